"""A judge infers the dependencies from the instruction alone."""
