"""Tells a task graph as a person would ask for it.

phrasebook    the phrases of a subtask
references    words for what was mentioned before
clauses       one subtask
purposes      what it is all for
plans         what is told, in which order
sentences     clauses put together, in one of several voices
"""
