"""The records that travel between rooms, all immutable.

subtask, task, graph, provenance        the contents of a dataset, and what replays reveal about orders
trajectory, interaction, gestures, keys what an agent sees and does; `grounding` finds a control again
evidence, effect                        what the checks read; changes by the work, side effects and noise
evaluation_function, judging_sheet      functions, their verdicts on labelled outcomes, how bundles are judged
agent_run                               attempts of agents and people, and their scores
model_calls                             calls of language models
computer_use                            conversations through computer tools, or in a model's own format
exploration                             screens seen and categories proposed, kept from run to run
criticism                               opinions of critics and people on tasks; trials of the judge
"""
