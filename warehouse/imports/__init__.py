"""One module per import format, found by its name: `read(path)` returns the records and the broken items, and
raises `ImportRefusedError` if there are none."""
