"""Agents that act in environments, and what is put between an agent and the loop.

guarding         maps each agent fault to its own termination
perceiving       adds controls found in the picture of a screen
recorded_agent   repeats a recording, or a worked example
"""
