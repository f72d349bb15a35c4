"""Evaluation protocols, one module each: the instructions of agents, and their limits.

A module offers `LIMITS` (`taskloom.omnieval.answers.ProtocolLimits`), `instruction(task)`, the text that the
agent is given, and `answer(said)`, the answer in its last message. Its docstring gives the source.
`taskloom.omnieval.lookup` finds the modules.
"""
