"""One module per import format, found by its name: `read(path)` gives the records and the broken items, and
raises `ImportRefusedError` where nothing is there."""
