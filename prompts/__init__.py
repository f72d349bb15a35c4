"""What language models are asked.

`templates/<name>/` holds the texts, `inputs` the typed input of each, `rendering` puts the two together.
"""
