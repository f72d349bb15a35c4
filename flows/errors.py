"""Errors of runs and commands: `CommandError` is bad input or a negative answer."""

from __future__ import annotations

from taskloom.resources.errors import ExitCode, TaskloomError


class CommandError(TaskloomError):
    """Ends a command with one clear line on standard error and an exit code."""

    def __init__(self, message: str, exit_code: ExitCode = ExitCode.BAD_INPUT) -> None:
        """Keep the message for the user and the exit code for the shell."""
        super().__init__(message)
        self.exit_code = exit_code
