"""Agents × tasks × repeats.

specification   the file of an experiment
"""
