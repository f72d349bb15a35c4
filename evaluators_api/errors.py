"""Errors of the checks and the sandbox.

EvaluatorsApiError
├── CheckUnavailableError    a check cannot answer on this machine (OCR that is not installed); recorded as a refusal
├── CheckMisusedError        a check got an argument it cannot take (not text, too long); recorded as a refusal
├── StateUnreadableError     a text is not of the format that it was read as; the state's reader then reads it as lines
└── SandboxUnavailableError  the sandbox cannot start here (its program is missing, isolation was demanded and is not to be had)

What goes wrong *inside* an evaluation is never one of these: it is an `Evaluation` with an outcome.
"""

from __future__ import annotations

from resources.errors import TaskloomError


class EvaluatorsApiError(TaskloomError):
    """Anything wrong outside the evaluated code; never transient."""


class CheckUnavailableError(EvaluatorsApiError):
    """A check has no means to answer; the message says what is missing and what to call instead."""


class CheckMisusedError(EvaluatorsApiError):
    """A check got an argument that it does not take; the message names the check, the argument and what it takes."""


class SandboxUnavailableError(EvaluatorsApiError):
    """The sandbox cannot start; the message says what to install or which setting to change."""


class StateUnreadableError(EvaluatorsApiError):
    """A text is not of the format it was read as. It never leaves the reading of state, which falls back to lines."""
