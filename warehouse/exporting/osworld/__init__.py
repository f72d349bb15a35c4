"""Tasks as OSWorld's own: where its format can say them.

conditions    what an evaluation function asks for, as conditions of files
metrics       names of its metrics, for the audit
setup         what brings its machine to a task's start
"""
