"""What models say, read into actions: one table-driven reader for all formats.

calls      finds calls in a reply: as code, as JSON, as XML
grids      points of a model's grid as pixels of the screen
arguments  their arguments, whatever they are called
verbs      one table of what calls mean
formats    a format: how its replies are written, in which grid, and how its model is asked
reading    reads a reply: its thought, its actions, and how it ends
"""
