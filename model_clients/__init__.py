"""How language models are called, and paid for once.

role_models     the entry point for the stages: by role, with a typed reply
conversation    turns a question into a request, and a reply's text into a typed reply
paid_calls      answers a call from the ledger, or makes it within the budget
client          the protocol of a provider; providers by name
messages        requests and replies, the same for every provider
rate_reports    rate limits that a provider reports
settings        which model plays which role, its limits and prices
ledger/         keeps every reply, and counts what calls cost
senders         sends requests, with retries and estimates of tokens; one per model
limiter         the rate limiter of a model, and the circuit breaker that pauses a failing provider
batches         collects calls for providers' batches
wire/           the providers' protocols
providers/      one module per kind of provider
"""
