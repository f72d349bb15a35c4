"""What the evaluation writer asserts: conditions that hold after every performance, in terms of the
parameters.

finding       all conditions that the effects suggest, the strongest first
state         of files and the clipboard
records       of records: one that holds what the performances share
screen        of what is shown, for work that leaves nothing else
terms         what a performance left, in terms of what all share
conditions    calls of checks
expressions   texts with parameters in them, as Python
"""
