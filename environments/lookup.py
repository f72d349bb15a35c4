"""Finding platform modules by name: the folder's name in `environments/platforms` is the key."""

from __future__ import annotations

import importlib
import pkgutil
from difflib import get_close_matches
from typing import Protocol, cast

from environments import platforms
from environments.environment import Environment
from environments.errors import UnknownPlatformError
from resources.record import Record


class Platform(Protocol):
    """What a platform module offers."""

    @staticmethod
    def settings(values: dict[str, object]) -> Record:
        """The platform's settings record from plain values; unknown keys are refused by the record."""
        ...

    @staticmethod
    def create(settings: Record) -> Environment:
        """A closed environment; the first `reset` starts what it needs."""
        ...


def platform_names() -> tuple[str, ...]:
    """Names of all platforms, sorted."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(platforms.__path__)))


def platform(name: str) -> Platform:
    """The platform module `name`, imported now: an absent optional dependency costs nothing until then.

    Raises:
        UnknownPlatformError: there is no such module; the message names the known ones.
    """
    known = platform_names()
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise UnknownPlatformError(f"There is no platform named {name!r}.{hint} Known: {', '.join(known)}.")
    return cast(Platform, importlib.import_module(f"environments.platforms.{name}.platform"))
