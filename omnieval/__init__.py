"""How agents are scored on task graphs.

`graph_evaluator` follows an attempt through a graph. `metrics/` holds one module per metric, which `lookup` finds; each is
computed from an `attempt`. `scoring` scores an execution sequence, and `reports` sums up over tasks.
"""
