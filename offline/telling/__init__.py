"""Tells a task graph as a person would ask for it.

phrasebook    the phrases of a subtask
references    words for what was mentioned before
clauses       one subtask
placing       what is told in its place, without a sentence of its own
purposes      what it is all for
plans         what is told, in which order
sentences     clauses put together, in one of several voices
"""
