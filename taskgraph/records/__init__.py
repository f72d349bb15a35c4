"""The records that travel between rooms, all immutable.

subtask, task, graph, provenance        what a dataset consists of, and what replays show of orders
trajectory, interaction, gestures, keys what an agent sees and does; `grounding` finds a control again
evidence, effect                        what the checks read, and what changes: by work, beside it, by itself
evaluation_function                     functions, what is known of checks, and what was said of known work
agent_run, experiment                   what agents and people are asked, and how they did
model_calls, worked_examples            what models are asked
computer_use                            what they answer through computer tools, or in words
exploration                             screens seen and categories proposed, kept from run to run
judging_sheet                           how a task is judged elsewhere
criticism                               what critics and people think of tasks; trials of the judge
"""
