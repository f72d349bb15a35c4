"""What the steps of the flows do.

growing                         the pool grows: explored and verified
drift                           verified subtasks performed again; those that no longer replay are retired
making, replaying, covering     tasks are made of it, performed again, covered
criticising                     some are scored by a critic
agents, agent_evaluation        agents attempt them
rejections                      equal rejections told apart
lots                            which items are drawn
results                         what steps pass to each other
"""
