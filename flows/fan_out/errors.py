"""What can go wrong between the processes of one run.

TaskloomError
├── RunnerMissingError   the library of the chosen runner is not installed
├── RunUnreachableError  a worker cannot reach the run that it works for
├── WorkersLostError     an item lost its worker too often
└── CarriedError         an error of another process that cannot be rebuilt here
"""

from __future__ import annotations

from taskloom.resources.errors import ExitCode, TaskloomError


class RunnerMissingError(TaskloomError):
    """The library of the chosen runner is not installed."""

    exit_code = ExitCode.MISSING_REQUIREMENT


class RunUnreachableError(TaskloomError):
    """A worker cannot reach the run that it works for."""

    transient = True


class WorkersLostError(TaskloomError):
    """An item lost its worker too often."""

    exit_code = ExitCode.NEGATIVE_ANSWER


class CarriedError(TaskloomError):
    """An error of another process that cannot be rebuilt here; its message is kept."""

    exit_code = ExitCode.NEGATIVE_ANSWER
