"""One module per export format, found by its name: `write(...)` refuses what the format cannot express,
giving the reason."""
