"""How agents are scored on task graphs.

`graph_evaluator` follows an attempt through a graph, `metrics` scores it, `reports` sums up over tasks.
"""
