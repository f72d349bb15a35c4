"""The command `taskloom`: one module per command in `commands/`; nobody imports it.

main                              finds the commands, runs one, turns errors into one clear line
run_options, shared_options       options that several commands take
answer_printing                   results on standard output
graph_files, predictions          reading task graphs and predicted actions from files
application_skeleton              the entry that `taskloom apps new` writes
"""
