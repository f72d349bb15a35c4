"""What language models are asked, and what they must answer.

inputs, prompt_input                  the typed input of each role's prompt, and the base of them all
critic_input, world_writer_input      those of the critic and of the writer of worlds
replies                               the record that each answer must be
templates/<role>/                     the texts
rendering                             makes the prompt of an input
control_lines                         controls of a screen as lines
exploration_views                     what the explorer is shown of screens
shown_effects, change_shapes          what the writer of functions is shown of changes
"""
