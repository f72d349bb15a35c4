"""Errors of environments.

EnvironmentFailureError
├── UnknownPlatformError         no such platform module (names the known ones)
├── BrowserMissingError          no browser on this machine (says how to get one)
├── ApplicationUnavailableError  not installed, or cannot be installed here
├── InstallationFailedError      a program that installs something failed (holds the end of what it said)
├── ApplicationStartFailedError  did not come up in time (transient: a busy machine)
├── ActionInvalidError           an action on a control that does not exist, or keys that do not parse
└── EnvironmentBrokenError       the browser or the application died in mid-episode (transient)
AgentError                       what an agent raises when it cannot decide: its model refused, or answered
                                 rubbish for ever
"""

from __future__ import annotations

from taskloom.resources.errors import ExitCode, TaskloomError


class EnvironmentFailureError(TaskloomError):
    """Anything that goes wrong in an environment."""


class UnknownPlatformError(EnvironmentFailureError):
    """No platform of that name."""


class BrowserMissingError(EnvironmentFailureError):
    """No browser can be found."""

    exit_code = ExitCode.MISSING_REQUIREMENT


class ApplicationUnavailableError(EnvironmentFailureError):
    """The application is not installed or cannot be."""

    exit_code = ExitCode.MISSING_REQUIREMENT


class InstallationFailedError(EnvironmentFailureError):
    """Something could not be installed; the message says which program failed and what it said."""


class ApplicationStartFailedError(EnvironmentFailureError):
    """The application did not come up."""

    transient = True


class ActionInvalidError(EnvironmentFailureError):
    """The action cannot be carried out as written; the message says why, for the agent to read."""


class EnvironmentBrokenError(EnvironmentFailureError):
    """The environment died."""

    transient = True


class AgentError(TaskloomError):
    """The agent cannot decide; the episode ends as a model error, and its steps are kept."""
