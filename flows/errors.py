"""What a command raises on bad input, and the documented exit codes.

0    done
1    the command ran and the answer is no (a check failed, a run ended with nothing)
2    bad input: nothing was changed
3    the budget is used up: everything finished is kept, a rerun continues
4    this machine lacks something (browser, application, key): the message says how to get it
5    requests were written to a file: a rerun with the replies continues
130  interrupted: everything finished is kept, a rerun continues
143  terminated: the same, at the request of another program
"""

from __future__ import annotations

NEGATIVE_ANSWER = 1
BAD_INPUT = 2
BUDGET_EXHAUSTED = 3
MISSING_REQUIREMENT = 4
WAITING_FOR_REPLIES = 5
INTERRUPTED = 130
TERMINATED = 143


class CommandError(Exception):
    """Ends a command with one clear line on standard error and an exit code."""

    def __init__(self, message: str, exit_code: int = BAD_INPUT) -> None:
        """Keep the message for the user and the exit code for the shell."""
        super().__init__(message)
        self.exit_code = exit_code
