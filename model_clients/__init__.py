"""How language models are called, and paid for once.

`client` is the port of a provider. `ledger/` keeps every reply, `limits/` paces and retries, `batches/` collects calls
for batch interfaces, `wire/` speaks the protocols, `providers/<name>` is one module per kind of provider.
"""
