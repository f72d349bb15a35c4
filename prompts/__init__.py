"""What language models are asked, and what they must answer.

`inputs` has the typed input of each role's prompt, `replies` the record that its answer must be, `templates/<role>/` the
texts; `rendering` makes the prompt of an input.
"""
