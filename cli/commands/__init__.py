"""One module per command; each has `register(app)`, and `taskloom.cli.main` finds them by name."""
