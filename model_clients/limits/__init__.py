"""As fast as a provider allows.

senders        sends requests, with retries and estimates of tokens; one per model
limiter        the rate limiter of a model, on buckets of requests and tokens
circuits       pauses a failing provider
"""
