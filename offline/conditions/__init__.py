"""Conditions that the evaluation writer asserts: they hold after every performance, and are stated in
terms of the parameters.

state         on files, the clipboard and records
screen        on the screen, for work that leaves nothing else
conditions    calls to checks as Python, with arguments in terms that all performances share
"""
