"""What the steps of the flows do.

growing                         explores applications and verifies subtasks
drift                           performs verified subtasks again; retires those that no longer replay
making, replaying               make tasks from the pool; score, replay and cover them
agents                          agents, and the models they ask
agent_evaluation                lets agents attempt tasks
attempt_judging                 judges attempts, live or from recordings, and makes their records
results                         what steps pass to each other; random draws, repeated rejections
"""
