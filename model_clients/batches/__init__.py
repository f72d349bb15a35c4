"""Calls that can wait, handed over together.

batcher          collects calls, submits them, hands answers to their callers
journal          remembers in the ledger which call is in which batch
"""
