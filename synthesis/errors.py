"""Errors of the stages.

SynthesisError
└── StageInputInvalidError  a stage was given records that do not belong together (names them)

A rejected item is not an error: it is a `Rejection` record.
"""

from taskloom.resources.errors import TaskloomError


class SynthesisError(TaskloomError):
    """Anything wrong with the use of a stage; never transient."""


class StageInputInvalidError(SynthesisError):
    """The records given do not belong together."""
