"""How language models are called, and paid for once.

role_models     the way in for the stages: by role, with a typed reply
conversation    from a question to a request, and from a reply's text to the typed reply
paid_calls      a call: answered by the ledger, or made within the budget
client          the port of a provider
messages        requests and replies, the same for every provider
rate_reports    what a provider says about its limits
settings        which model plays which role, at what speed and cost
counters        what calls have done so far
ledger/         keeps every reply
limits/         paces and retries
batches/        collects calls for providers' batches
wire/           speaks the protocols
providers/      one module per kind of provider
"""
