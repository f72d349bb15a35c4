"""Subtasks performed.

trajectories          a model performs, also through its provider's computer tool
setup_trajectories    brings an environment to a subtask's start, or a whole task's
generalisation        recordings of others, with the values of a new instance put in
reperformance         performs a recording again
settled_ends          whether nothing is left open or overlooked at the end
"""
