"""The command `taskloom`: one module per command in `commands/`; nobody imports it.

main                              finds the commands, runs one, turns errors into one clear line
options                           options that several commands take
answer_printing                   results on standard output
predictions                       reading predicted actions from files
application_skeleton              the entry that `taskloom apps new` writes
"""
