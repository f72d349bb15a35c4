"""Agents of environments, and what stands between any agent and the loop.

guarding         every fault of an agent has its own end
perceiving       what is perceived of a screen beside its controls
recorded_agent   repeats a recording, or a worked example
"""
