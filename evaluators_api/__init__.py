"""What generated evaluation functions may call, and the sandbox they run in.

checks/           the functions they call
evidence/         what the checks read
interpreter/      static analysis and the sandbox
state/            files as trees of addressed values, compared (effects) and edited
reference         describes the checks to models
text_matching     the one definition of equal texts
judging_folders   judges an exported task by its home folder
"""
