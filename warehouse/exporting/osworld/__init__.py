"""Tasks in OSWorld's layout.

judging       lets its machine judge by our functions
setup         what brings its machine to a task's start
"""
