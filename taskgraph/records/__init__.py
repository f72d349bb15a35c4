"""The records that travel between rooms, all immutable.

subtask, task, graph, provenance                  what a dataset consists of
trajectory, interaction, gestures, keys           what an agent sees and does; `grounding` finds a control
again
evidence, effect                                  what the checks read, and what a performance changed
evaluation_function, judged_outcome               functions, and what they said of work that is known
check_facts                                       what the declaration of a check says of it
assignment, question, turn, agent_run, experiment  what agents and people are asked, and how they did
model_calls, worked_examples                      what models are asked
computer_use, spoken                              what they answer through computer tools, or in words
exploration                                       screens seen and categories proposed, kept from run to run
noise                                             what applications change by themselves
allowance, order_fact, side_effects, judge_trial  what replays show of orders and of changes; trials of the
judge
judging_sheet                                     how a task is judged elsewhere
criticism, review                                 what a critic and what people think of a task
"""
