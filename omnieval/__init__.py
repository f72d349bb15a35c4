"""How agents are scored on task graphs.

experiments        agents × tasks × repeats: their file, their attempts, their ends
protocols/         one module per protocol of evaluation
agents/            one module per agent; each is made from a `brief`
replies/           what models say, read into actions
asking/            how agents ask models: typed, in words, through a computer tool
answers            how answers are read and compared
metrics/           one module per metric of attempts, found by `lookup`
action_metrics     metrics of actions against recorded ones, without an environment
scoring            scores an execution sequence, if it is possible, and follows an attempt through a graph
reports/           means over tasks
"""
