"""Every reply is durable before it is used, and paid for once.

budget             what a call costs, and what all calls of a run share and may spend
ledger             the stored calls and their identity; `writer` is its only writing thread
upkeep             messages of a call; sums by stage, model and outcome; clean-up
"""
