"""Metrics of attempts at task graphs, one module each; the module's name is the metric's name.

A module's docstring gives the definition and its source, and its function `measure(attempt)` returns the
value, or None if the metric is undefined. `taskloom.omnieval.lookup` finds the modules; they need not be
registered.
"""
