"""One module per provider, found by its name: `create(settings)` makes a client, `PROTOCOLS` names its
protocols."""
