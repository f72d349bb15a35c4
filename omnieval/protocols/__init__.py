"""Protocols of evaluation, one module each: what agents are told, and how long they may go on.

A module offers `LIMITS` (`taskloom.omnieval.experiments.specification.Limits`) and `instruction(brief)`, the
text that the agent is given. Its docstring gives the source. `taskloom.omnieval.lookup` finds the modules.
"""
