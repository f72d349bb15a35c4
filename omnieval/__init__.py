"""How agents are scored on task graphs.

experiments        agents × tasks × repeats: the file, the planned attempts, and how attempts end
protocols/         one module per evaluation protocol
agents/            one module per agent; each is created from a `brief`
replies/           parses replies of models into actions
asking/            agents that ask models: with typed replies, in text, through a computer tool
answers            how answers are read and compared
metrics/           one module per metric of attempts, found by `lookup`
action_metrics     metrics of actions against recorded ones, without an environment
scoring            scores possible execution sequences, and follows an attempt through a graph
reports/           figures and tables over tasks
"""
