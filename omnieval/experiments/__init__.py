"""Agents × tasks × repeats.

specification   the file of an experiment
plan            the attempts it asks for
ends            the one name of an end
"""
