"""The command `taskloom`: one module per command in `commands/`; no package imports it.

main                              finds the commands, runs one, turns errors into one clear line
options                           options shared by several commands
answer_printing                   prints results on standard output
predictions                       reads predicted actions from files
application_skeleton              the entry that `taskloom apps new` writes
"""
