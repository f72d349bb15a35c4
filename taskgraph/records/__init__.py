"""The records that travel between rooms, all immutable.

subtask, task, graph, provenance                  what a dataset consists of
trajectory, interaction, gestures, keys           what an agent sees and does; `grounding` finds a control again
evidence, effect                                  what the checks read, and what a performance changed
evaluation_function, judged_outcome               functions, and what they said of work that is known
assignment, agent_run                             what an agent is asked, and how it did
model_calls, worked_examples                      what models are asked
"""
