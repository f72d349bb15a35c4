"""The rules by which the offline provider answers each role, without a model."""
