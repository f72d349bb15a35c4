"""What generated evaluation functions may call, and the sandbox they run in.

checks/           the functions they call
evidence/         what the checks read
interpreter/      admits and runs the code
state/            files as trees of addressed values, compared (effects) and edited
path_functions    functions on path names
result            what a function returned, read strictly
reference         the page about the checks that models are given
text_matching     the one definition of "this text is there"
judging_folders   judges a task by its home folder, where an exported task is graded
"""
