"""What the steps of the flows do.

growing                         the pool grows: explored and verified
drift                           verified subtasks performed again; those that no longer replay are retired
making, replaying               tasks are made of it, scored by a critic, performed again, covered
agents                          agents, and the models they ask
agent_evaluation                agents attempt tasks
attempt_judging                 what is made and kept of an attempt, now or from its recording
results                         what steps pass to each other; draws, equal rejections
"""
