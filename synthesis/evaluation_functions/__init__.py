"""A model writes evaluation functions.

evaluation_functions    asks for a function; which checks its reference covers
shown_effects           the effects of performances, as the writer sees them
origins                 where new content comes from: pasted, imported, exported, copied
task_shapes             what a writer sees that must not learn how performances ended
"""
