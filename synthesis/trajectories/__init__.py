"""How subtasks are performed.

trajectories          a model performs, also through its provider's computer tool
setup_trajectories    brings an environment to the start of a subtask or of a whole task
generalisation        trajectories of other instances, with the values of a new one filled in
reperformance         performs a recording again
settled_ends          whether anything is left open or overlooked at the end
"""
