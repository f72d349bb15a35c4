"""The prompts of language models and their replies.

inputs, prompt_input                  the typed input of each role's prompt, their base, and who answers
replies                               the record of each role's reply; lenient reading of near misses
templates/<role>/                     the texts
rendering                             renders a prompt from an input, with controls as lines
agent_inputs                          inputs of agents under evaluation
actor_actions                         an actor's steps in the prompt, and the action that its reply means
shown_effects                         changes as shown to the function writer, screens to the explorer
"""
