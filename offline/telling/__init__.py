"""Tells a task graph as a person would ask for it.

`phrasebook` finds the phrases of a subtask, `references` the words for what was mentioned before, `clauses` tells one
subtask, `plans` decides what is told in which order, `sentences` puts clauses together, `voices` says who speaks.
"""
