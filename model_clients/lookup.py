"""Finds provider modules by name."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from types import ModuleType

from taskloom.model_clients import providers
from taskloom.model_clients.client import ModelClient
from taskloom.model_clients.errors import UnknownProviderError
from taskloom.model_clients.settings import ModelSettings


def provider_names() -> tuple[str, ...]:
    """The names of all provider modules, sorted; none of them is imported."""
    return tuple(sorted(found.name for found in pkgutil.iter_modules(providers.__path__)))


@cache
def provider(name: str) -> ModuleType:
    """The provider module of that name; its `create(settings)` makes a client.

    Raises:
        UnknownProviderError: no such module; the message names the known ones.
    """
    known = provider_names()
    if name not in known:
        raise UnknownProviderError(f"unknown model provider {name!r}; known: {', '.join(known)}")
    return import_module(f"taskloom.model_clients.providers.{name}")


def create_client(settings: ModelSettings) -> ModelClient:
    """A client of the settings' provider and model.

    Raises:
        UnknownProviderError: no such provider.
        KeyMissingError: the provider needs a key and the environment holds none.
    """
    client: ModelClient = provider(settings.provider).create(settings)
    return client
