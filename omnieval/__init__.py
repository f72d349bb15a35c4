"""How agents are scored on task graphs.

experiments/       agents × tasks × repeats: their file, their ends
protocols/         one module per protocol of evaluation
agents/            one module per agent; each is made from a `brief`
replies/           what models say, read into actions
asking/            how agents ask models: typed, in words, through a computer tool
answers            how answers are read and compared
graph_evaluator    follows an attempt through a graph
metrics/           one module per metric, found by `lookup`; each is computed from an `attempt`
action_metrics/    metrics of actions against recorded ones, without an environment
action_examples    the statements that these compare, and which are right at a step
coherency          how coherent an execution sequence is, and whether it is possible
scoring            scores an execution sequence
reports/           means over tasks
"""
