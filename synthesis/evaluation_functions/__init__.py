"""A model writes evaluation functions (`evaluation_functions`) from `shown_effects`, with the `origins` of new content."""
