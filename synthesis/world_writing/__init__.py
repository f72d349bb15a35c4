"""A model writes further kinds of worlds, which must pass what the shipped ones pass (`world_writing`)."""
