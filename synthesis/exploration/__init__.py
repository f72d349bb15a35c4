"""A model proposes subtasks of an application.

exploration         asks, and keeps what the records allow
walking             looks beyond the first screen
memory              what earlier explorations saw and proposed
proposal_checks     whether a proposed subtask is well formed
order_of_sets       which parameter sets of proposals come first
found_records       records that are there after a reset and that proposals read
category_checks     whether a proposed resource category may be used
"""
