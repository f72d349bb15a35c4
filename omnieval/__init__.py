"""How agents are scored on task graphs.

graph_evaluator    follows an attempt through a graph
metrics/           one module per metric, found by `lookup`; each is computed from an `attempt`
coherency          coherency of an agent over many tasks
scoring            scores an execution sequence
reports            sums up over tasks
"""
