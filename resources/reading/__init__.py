"""From texts to values and records.

catalog             loads everything, and checks it
yaml_reading        reads a file, and explains faults by line and field
catalog_shorthand   expands short notations
catalog_links       what must hold between entries
worlds              reads the kinds of worlds
translation         puts catalogue entries into worlds
world_checks        what a kind of world must pass
json_text           reads JSON strictly
"""
