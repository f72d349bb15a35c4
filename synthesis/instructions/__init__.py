"""A model sums a graph up in one instruction (`instructions`); `literal_checks` says what can be said without
a model."""
