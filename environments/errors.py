"""Errors of environments.

EnvironmentFailureError
├── UnknownPlatformError         no such platform module (names the known ones)
├── BrowserMissingError          no browser on this machine (says how to get one)
├── MachineUnavailableError      no machine can be started here (says what to do)
├── ApplicationUnavailableError  not installed, or cannot be installed here
├── InstallationFailedError      an installing program failed (holds the end of its output)
├── ApplicationStartFailedError  did not start (transient: a busy machine)
├── ActionInvalidError           an action on a control that does not exist, or keys that do not parse
├── PictureUnreadableError       no OCR engine here, or it failed
├── RequestRefusedError          the server in a machine cannot carry out a request
└── EnvironmentBrokenError       the browser or the application died in mid-episode (transient)
AgentError                       the agent cannot or may not decide any more; says how its attempt ends
└── UnusableReplyError           not an action; the model gets the message and is asked again
"""

from taskloom.resources.errors import ExitCode, TaskloomError
from taskloom.taskgraph.records.trajectory import Termination


class EnvironmentFailureError(TaskloomError):
    """Anything that goes wrong in an environment."""


class UnknownPlatformError(EnvironmentFailureError):
    """No platform of that name."""


class PictureUnreadableError(EnvironmentFailureError):
    """The text of a picture cannot be read."""


class BrowserMissingError(EnvironmentFailureError):
    """No browser can be found."""

    exit_code = ExitCode.MISSING_REQUIREMENT


class MachineUnavailableError(EnvironmentFailureError):
    """No machine can be started: no container engine, no image, no permission, no space."""

    exit_code = ExitCode.MISSING_REQUIREMENT


class RequestRefusedError(EnvironmentFailureError):
    """The server in a machine cannot carry out a request; the message says why."""


class ApplicationUnavailableError(EnvironmentFailureError):
    """The application is not installed or cannot be."""

    exit_code = ExitCode.MISSING_REQUIREMENT


class InstallationFailedError(EnvironmentFailureError):
    """Something could not be installed; the message names the failed program and quotes its output."""


class ApplicationStartFailedError(EnvironmentFailureError):
    """The application did not start."""

    transient = True


class ActionInvalidError(EnvironmentFailureError):
    """The action cannot be carried out as written; the message says why, for the agent to read."""


class EnvironmentBrokenError(EnvironmentFailureError):
    """The environment died."""

    transient = True


class AgentError(TaskloomError):
    """The agent cannot decide; the episode ends as `termination` says, and its steps are kept."""

    def __init__(self, message: str, termination: Termination = "model_error") -> None:
        super().__init__(message)
        self.termination = termination


class UnusableReplyError(AgentError):
    """The model's reply is not an action.

    The message is written for the model: it becomes a step that did nothing, and the agent is asked again.
    """

    def __init__(self, message: str, reply: str = "") -> None:
        super().__init__(message)
        self.reply = reply
