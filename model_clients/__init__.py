"""How language models are called, and paid for once.

role_models     the entry point for the stages: by role, with a typed reply
conversation    turns a question into a request, and a reply's text into a typed reply
paid_calls      answers a call from the ledger, or makes it within the budget
client          the protocol of a provider; providers by name
messages        requests and replies, the same for every provider
rate_reports    rate limits that a provider reports
settings        which model plays which role, at what speed and cost
counters        counts of calls, tokens and cost
ledger/         keeps every reply
limits/         rate limits and retries
batches         collects calls for providers' batches
wire/           the providers' protocols
providers/      one module per kind of provider
"""
