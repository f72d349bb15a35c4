"""Tasks as OSWorld's own: where its format can say them.

conditions    what an evaluation function asks for, as conditions of files
judging       lets its machine judge by our functions where its format cannot say them
setup         what brings its machine to a task's start
"""
