"""What the steps of the flows do.

growing, known_pool             the pool grows: explored, verified, or known from earlier runs
pool_memory                     what the warehouse remembers for exploration
making, replaying, covering     tasks are made of it, performed again, covered
criticising                     some are scored by a critic
agents, agent_evaluation        agents attempt them
subtask_starts                  states from which a subtask inside a task is judged
rejections                      equal rejections told apart
lots                            which items are drawn
results                         what steps pass to each other
"""
