"""What language models are asked, and what they must answer.

inputs, prompt_input                  the typed input of each role's prompt, their base, and who answers
replies                               the record of each role's reply; near misses read as what they mean
templates/<role>/                     the texts
rendering                             renders a prompt from an input, with controls as lines
agent_inputs                          inputs of agents under evaluation
actor_actions                         what an actor did in words, and what its reply means
shown_effects                         what the function writer is shown of changes, the explorer of screens
"""
