"""One module per file format, named after the format; each implements `state.reading.Format`."""
