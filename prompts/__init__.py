"""What language models are asked, and what they must answer.

inputs, prompt_input                  the typed input of each role's prompt, their base, and who answers
replies                               the record of each role's reply
near_misses                           replies in a slightly other form, read as what they mean
templates/<role>/                     the texts
rendering                             renders a prompt from an input
agent_inputs                          inputs of agents under evaluation
control_lines                         controls of a screen as lines
actor_actions                         what an actor did in words, and what its reply means
exploration_views                     what the explorer is shown of screens
shown_effects                         what the writer of functions is shown of changes
"""
