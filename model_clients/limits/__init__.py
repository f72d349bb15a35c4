"""As fast as a provider allows.

senders        sends requests, with retries; one per model
limiter        the rate limiter of a model, on `rate_buckets` and `estimates` of tokens
circuits       pauses a failing provider
"""
