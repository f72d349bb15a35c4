"""Reads an instruction as a stranger would who knows the applications, and never sees a graph.

forms       patterns of a subtask's phrases
mentions    where a text asks for which subtask
leftovers   what no subtask accounts for

Nothing here knows how texts are put together: no connectives, voices or plans of the teller are imported,
only the catalogue's phrases.
"""
