"""Platforms by name: each is a folder of `platforms/` with the module `platform`, or comes from a package."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, cast

from taskloom.environments.environment import Environment
from taskloom.environments.errors import UnknownPlatformError
from taskloom.resources.applications import Application
from taskloom.resources.plugins import PluginKind
from taskloom.resources.record import Record

PLATFORMS: PluginKind["Platform"] = PluginKind(
    "platform",
    UnknownPlatformError,
    folder="taskloom.environments.platforms",
    group="taskloom.platforms",
    module="platform",
    needs=("SETTINGS", "applications", "missing", "prepare", "install", "create"),
)
"""All platforms; each offers what `Platform` declares."""
_SEPARATOR = "+"


class InstallationResult(Record):
    """The result of installing one application."""

    application: str
    """Name of the application."""
    outcome: Literal["installed", "skipped", "failed"]
    """`skipped` means that it was already installed."""
    reason: str = ""
    """Why it failed."""
    seconds: float = 0.0
    """How long it took, without waiting for the lock."""
    size_bytes: int = 0
    """Disk space of its folder."""

    def in_words(self) -> str:
        """The result as a line of progress."""
        words = f"{self.application}: {self.outcome}"
        if self.outcome == "installed":
            words += f" in {self.seconds:.0f} s, {self.size_bytes / 1e6:.0f} MB"
        return f"{words}: {self.reason}" if self.reason else words


class Platform(Protocol):
    """What a platform module offers."""

    SETTINGS: type[Record]
    """The platform's settings record."""

    @staticmethod
    def applications() -> tuple[Application, ...]:
        """Applications that the platform adds to those of the catalogue, sorted by name."""
        ...

    @staticmethod
    def missing(application: Application, data_folder: Path) -> str:
        """What an application still needs before it can start, as readable text; empty if nothing."""
        ...

    @staticmethod
    def prepare(data_folder: Path, say: Callable[[str], None]) -> str:
        """Find or install what the platform needs besides applications; describes what it found.

        Raises:
            EnvironmentFailureError: the platform cannot run here; the message says what to do.
        """
        ...

    @staticmethod
    def install(
        applications: Sequence[Application], data_folder: Path, say: Callable[[str], None]
    ) -> list[InstallationResult]:
        """Install `applications`; the result of each.

        Raises:
            EnvironmentFailureError: the platform itself cannot run here; the message says what to do.
        """
        ...

    @staticmethod
    def create(settings: Record) -> Environment:
        """An environment with nothing running; the first `reset` starts what it needs."""
        ...


def platform(name: str) -> Platform:
    """The platform module `name`, imported now: an absent optional dependency costs nothing until then.

    Raises:
        UnknownPlatformError: there is no such platform; the message names the known ones.
        PluginBrokenError: the package providing it is broken.
    """
    return PLATFORMS.load(name)


def missing_for_start(application: Application, data_folder: Path) -> str:
    """What an application still needs before it can start on its platform; empty if nothing is missing."""
    return platform(application.platform).missing(application, data_folder)


def platform_of(applications: Iterable[Application]) -> str:
    """The platform that opens all of `applications`, or several joined as `one+other`."""
    return _SEPARATOR.join(sorted({application.platform for application in applications}))


def platforms_in(name: str) -> tuple[str, ...]:
    """The platforms that a platform joins: itself, unless it is written `one+other`."""
    return tuple(name.split(_SEPARATOR))


def create_environment(name: str, values: Mapping[str, object]) -> Environment:
    """A new environment of one platform or several (`one+other`); uses the `values` that are its settings.

    Raises:
        UnknownPlatformError: there is no such platform.
    """
    members = []
    for part in platforms_in(name):
        module = platform(part)
        known = {key: value for key, value in values.items() if key in module.SETTINGS.model_fields}
        members.append(module.create(module.SETTINGS.model_validate(known)))
    if len(members) == 1:
        return members[0]
    from taskloom.environments.joint import JointEnvironment, Member

    return JointEnvironment([cast(Member, member) for member in members])
