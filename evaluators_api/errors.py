"""Errors of the checks and the sandbox.

EvaluatorsApiError
├── CheckUnavailableError    a check cannot answer on this machine (OCR that is not installed); recorded as a
refusal
├── CheckDeclarationError    a check is declared with types that checks cannot have; a fault of ours, raised
on import
├── CheckMisusedError        a check got an argument it cannot take (not text, too long); recorded as a
refusal
├── CheckOverdueError        a check ran out of the time that an evaluation's checks have; recorded as timed
out
├── StateUnreadableError     a text is not of the format that it was read as; the state's reader then reads it
as lines
├── SheetInvalidError        a judging sheet or a folder to judge cannot be read
└── SandboxUnavailableError  the sandbox cannot start here (its program is missing, isolation was demanded and
is not to be had)

What goes wrong *inside* an evaluation is never one of these: it is an `Evaluation` with an outcome.
"""

from taskloom.resources.errors import TaskloomError


class EvaluatorsApiError(TaskloomError):
    """Anything wrong outside the evaluated code; never transient."""


class CheckUnavailableError(EvaluatorsApiError):
    """A check cannot answer on this machine; the message says what is missing and what to call instead."""


class CheckDeclarationError(EvaluatorsApiError):
    """A check is declared wrongly; the message names it, what is wrong and what is allowed."""


class CheckMisusedError(EvaluatorsApiError):
    """A check got an argument that it does not take; the message names the check, the argument and what it
    takes."""


class CheckOverdueError(EvaluatorsApiError):
    """The checks of an evaluation have used up their time."""


class SandboxUnavailableError(EvaluatorsApiError):
    """The sandbox cannot start; the message says what to install or which setting to change."""


class StateUnreadableError(EvaluatorsApiError):
    """A text is not in the format it was read as. It never leaves this package: reading falls back to
    lines."""


class SheetInvalidError(EvaluatorsApiError):
    """A judging sheet, or a folder to be judged, cannot be read; the message says which and why."""
