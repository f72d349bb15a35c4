"""Agents × tasks × repeats.

specification   the file of an experiment
plan            the attempts it asks for, and the names of their ends
"""
