"""One module per command; each has `register(app)`, and `cli.main` finds them by name."""
