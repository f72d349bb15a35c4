"""One module per export format, found by its name: `write(...)` refuses, with the reason, what the format
cannot express."""
