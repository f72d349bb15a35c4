"""Reads an instruction as a stranger would who knows the applications, and never sees a graph.

`forms` makes patterns of a subtask's phrases, `mentions` finds where a text asks for which subtask, `sources` says what
the words for a thing refer to, `leftovers` what no subtask accounts for. Nothing here knows how texts are put together:
no connectives, voices or plans of the teller are imported, only the catalogue's phrases.
"""
