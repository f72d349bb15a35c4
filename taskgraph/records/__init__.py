"""The records that travel between rooms, all immutable.

subtask, task, graph, provenance        what a dataset consists of, and what replays show of orders
trajectory, interaction, gestures, keys what an agent sees and does; `grounding` finds a control again
evidence, effect                        what the checks read, and what changes: by work, beside it, by itself
evaluation_function, judging_sheet      functions, what was said of known work, how a task is judged elsewhere
agent_run                               what agents and people are asked, and how they did
model_calls                             what models are asked
computer_use                            what they answer through computer tools, or in words
exploration                             screens seen and categories proposed, kept from run to run
criticism                               what critics and people think of tasks; trials of the judge
"""
