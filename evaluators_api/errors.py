"""Errors of the checks and the sandbox.

EvaluatorsApiError
├── CheckUnavailableError    recorded as unavailable
├── CheckDeclarationError    a fault of ours, raised on import
├── CheckMisusedError        recorded as a refusal
├── CheckOverdueError        recorded as timed out
├── StateUnreadableError
├── SheetInvalidError
└── SandboxUnavailableError

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
    """A check got an invalid argument; the message names the check, the argument and what is allowed."""


class CheckOverdueError(EvaluatorsApiError):
    """The checks of an evaluation have used up their time."""


class SandboxUnavailableError(EvaluatorsApiError):
    """The sandbox cannot start; the message says what to install or which setting to change."""


class StateUnreadableError(EvaluatorsApiError):
    """A text is not in the expected format. Never leaves this package: the text is then read as lines."""


class SheetInvalidError(EvaluatorsApiError):
    """A judging sheet or a folder to judge cannot be read; the message says which and why."""
