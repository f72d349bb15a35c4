"""How agents ask models.

model_agents     the agents that only ask a model, as a table
first_questions  hashes of the first prompts of agents
"""
