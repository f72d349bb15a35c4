"""Every reply is durable before anyone uses it, and paid for once.

accounts           what all calls of a run share
budget, prices     what a run may spend, and what a call costs
ledger             the stored calls; `writer` is its only writing thread
call_records       the row of a call; `request_keys` its identity, `request_contents` what was asked
call_texts         what was said in a call, for people
call_summaries     sums by stage, model and outcome
transfer           export, import, clean-up
"""
