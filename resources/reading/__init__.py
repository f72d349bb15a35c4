"""From texts to values and records.

catalog             loads everything, and expands short notations
yaml_reading        reads a file, and explains faults by line and field
catalog_checks      what must hold in an entry, and between entries
worlds              reads the kinds of worlds
translation         puts catalogue entries into worlds, and tries whether a kind of world allows it
json_text           reads JSON strictly
"""
