"""A careless model: an answerer for the model server that knows nothing but the prompts it is sent.

It shares nothing with the offline provider and no catalogue: it proposes what forms and rows of the screens
suggest, acts with detours, and has the habits of real models. Equal prompts get equal replies.
"""
