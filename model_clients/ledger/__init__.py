"""Every reply is durable before anyone uses it, and paid for once.

budget, prices     what a run may spend and all its calls share, and what a call costs
ledger             the stored calls and what was asked; `writer` is its only writing thread
request_keys       the identity of a call
call_texts         what was said in a call, for people
upkeep             sums by stage, model and outcome; clean-up
"""
