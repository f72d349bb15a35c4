"""What the evaluation writer asserts: conditions that hold after every performance, in terms of the
parameters.

state         of files, the clipboard and records
screen        of what is shown, for work that leaves nothing else
conditions    calls of checks, and what a performance left in terms of what all share, as Python
"""
