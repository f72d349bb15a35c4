"""Subtasks performed.

trajectories          a model performs
briefing              what it is told before
computer_agent        a model performs through its provider's computer tool
setup_trajectories    brings an environment to a subtask's start
task_starts           what must be there before a whole task
generalisation        recordings of others, with the values of a new instance put in
reperformance         performs a recording again
slips                 performs it with one harmless mistake that is taken back
repetition            the same action again and again in vain
settled_ends          whether nothing is left open at the end
"""
