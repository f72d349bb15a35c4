"""Errors of the stages.

SynthesisError
└── StageInputInvalid        a stage was given records that do not belong together (names them)

An item that does not make it is no error: it is a `Rejection` record.
"""

from __future__ import annotations


class SynthesisError(Exception):
    """Anything wrong with the use of a stage; never transient."""

    transient = False


class StageInputInvalid(SynthesisError):
    """The records given do not belong together."""
