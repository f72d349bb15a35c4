"""One module per import format, found by its name: `read(path)` returns the records and the broken items, and
raises `ImportRefusedError` where there are none."""
