"""Subtasks performed.

trajectories          a model performs
actor_actions         what its reply means
setup_trajectories    brings an environment to a subtask's start
reperformance         performs a recording again
settled_ends          whether nothing is left open at the end
"""
