"""A critic that had no part in making a task scores it (`criticism`)."""
