"""Errors of environments.

EnvironmentFailure
├── UnknownPlatform          no such platform module (names the known ones)
├── BrowserMissing           no browser on this machine (says how to get one)
├── ApplicationUnavailable   not installed, or cannot be installed here
├── InstallationFailed       a program that installs something failed (holds the end of what it said)
├── ApplicationStartFailed   did not come up in time (transient: a busy machine)
├── ActionInvalid            an action on a control that does not exist, or keys that do not parse
└── EnvironmentBroken        the browser or the application died in mid-episode (transient)
AgentFailure                 what an agent raises when it cannot decide: its model refused, or answered rubbish for ever
"""

from __future__ import annotations


class EnvironmentFailure(Exception):
    """Anything that goes wrong in an environment."""

    transient = False


class UnknownPlatform(EnvironmentFailure):
    """No platform of that name."""


class BrowserMissing(EnvironmentFailure):
    """No browser can be found."""


class ApplicationUnavailable(EnvironmentFailure):
    """The application is not installed or cannot be."""


class InstallationFailed(EnvironmentFailure):
    """Something could not be installed; the message says which program failed and what it said."""


class ApplicationStartFailed(EnvironmentFailure):
    """The application did not come up."""

    transient = True


class ActionInvalid(EnvironmentFailure):
    """The action cannot be carried out as written; the message says why, for the agent to read."""


class EnvironmentBroken(EnvironmentFailure):
    """The environment died."""

    transient = True


class AgentFailure(Exception):
    """The agent cannot decide; the episode ends as a model error, and its steps are kept."""

    transient = False
