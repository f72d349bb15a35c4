"""As fast as a provider allows.

senders        sends requests, with retries; one per model
limiter        the rate limiter of a model, on `rate_buckets` and `estimates` of tokens
rate_reports   what a provider says about its limits
circuits       pauses a failing provider
"""
