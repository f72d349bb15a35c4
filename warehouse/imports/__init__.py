"""One module per import format, found by its name: `read(path)` gives the records and the broken items."""
