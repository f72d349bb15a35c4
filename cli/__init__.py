"""The command `taskloom`: one module per command in `commands/`; nobody imports it."""
