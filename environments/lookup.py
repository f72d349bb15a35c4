"""Finding platform modules by name: the folder's name in `environments/platforms` is the key."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Protocol, cast

from taskloom.environments import platforms
from taskloom.environments.environment import Environment
from taskloom.environments.errors import UnknownPlatformError
from taskloom.resources.applications import Application
from taskloom.resources.record import Record


class Platform(Protocol):
    """What a platform module offers."""

    SETTINGS: type[Record]
    """The platform's settings record."""

    @staticmethod
    def settings(values: dict[str, object]) -> Record:
        """The platform's settings record from plain values; unknown keys are refused by the record."""
        ...

    @staticmethod
    def applications() -> tuple[Application, ...]:
        """Applications that the platform brings itself, beside those of the catalogue, by name."""
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
    return cast(Platform, importlib.import_module(f"taskloom.environments.platforms.{name}.platform"))


def create_environment(name: str, values: Mapping[str, object]) -> Environment:
    """A closed environment of the platform `name`, which takes those of `values` that its settings have a
    field for.

    Raises:
        UnknownPlatformError: there is no such platform.
    """
    module = platform(name)
    known = module.SETTINGS.model_fields
    return module.create(module.settings({key: value for key, value in values.items() if key in known}))
