"""How agents ask models.

model_agents   the agents that only ask a model, as a table
spoken         in the format that the model was trained for, in one conversation
provider_tool  through the provider's computer tool
typed          for one action as JSON per step
first_questions  what agents ask first, as hashes
"""
