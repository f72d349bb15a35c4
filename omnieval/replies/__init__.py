"""Parses replies of models into actions, with one table-driven parser for all formats.

calls    finds calls in a reply: in code, JSON or XML
verbs    one table of the meanings of calls, whatever their arguments are called
formats  a format: how its model is asked, and what its replies mean
"""
