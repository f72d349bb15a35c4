"""A model finds goals in the pool (`intents`)."""
