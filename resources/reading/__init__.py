"""Reads texts into values and records.

catalog             loads everything, and expands short notations
yaml_reading        reads a file, and reports mistakes by line and field
catalog_checks      checks entries, and their consistency with each other
worlds              reads the kinds of worlds
translation         translates catalogue entries into worlds, and checks kinds of worlds
json_text           reads JSON strictly
"""
