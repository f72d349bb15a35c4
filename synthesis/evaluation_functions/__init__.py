"""A model writes evaluation functions.

evaluation_functions    asks for one
shown_effects           what it is shown: the effects of performances
origins                 where new content comes from: pasted, imported, exported, copied
needed_checks           which checks the reference holds
task_shapes, words_of_the_task    what a writer is shown and told that must not learn how performances ended
"""
