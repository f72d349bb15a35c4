"""Performing subtasks.

trajectories         the actor model performs a subtask
reperformance        a recorded trajectory is performed again
setup_trajectories   what is performed before a subtask whose inputs no reset provides
"""
