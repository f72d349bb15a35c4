"""A model proposes subtasks of an application.

exploration         asks the model, and keeps the proposals that the records allow
walking             looks beyond the first screen
memory              what earlier explorations saw, found and proposed
proposal_checks     whether proposed subtasks and resource categories are well formed
order_of_sets       which parameter sets of proposals come first
"""
