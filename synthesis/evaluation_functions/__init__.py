"""A model writes evaluation functions.

evaluation_functions    asks for one; which checks the reference holds
shown_effects           what it is shown: the effects of performances
origins                 where new content comes from: pasted, imported, exported, copied
task_shapes             what a writer is shown and told that must not learn how performances ended
"""
