"""What models say, read into actions: one table-driven reader for all formats.

calls    finds calls in a reply: as code, as JSON, as XML
verbs    one table of what calls mean, whatever their arguments are called
formats  a format: how its model is asked, and what its replies mean
"""
