"""Protocols of evaluation, one module each: what agents are told, and how long they may go on.

A module offers `LIMITS` (`taskloom.omnieval.answers.ProtocolLimits`), `instruction(task)`, the text that the
agent is given, and `answer(said)`, the answer in its last words. Its docstring gives the source.
`taskloom.omnieval.lookup` finds the modules.
"""
