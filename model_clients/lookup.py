"""Providers, found by name; a provider is a module with `create(settings)`."""

from __future__ import annotations

from typing import Protocol, cast

from taskloom.model_clients.client import ModelClient
from taskloom.model_clients.errors import UnknownProviderError
from taskloom.model_clients.settings import ModelSettings
from taskloom.resources.plugins import PluginKind

PROVIDERS = PluginKind(
    "model provider",
    UnknownProviderError,
    folder="taskloom.model_clients.providers",
    group="taskloom.providers",
    needs=("create",),
)
"""Each offers what `Provider` says."""


class Provider(Protocol):
    """What a provider module offers."""

    @staticmethod
    def create(settings: ModelSettings) -> ModelClient:
        """A client of the settings' model."""
        ...


def create_client(settings: ModelSettings) -> ModelClient:
    """A client of the settings' provider and model.

    Raises:
        UnknownProviderError: no such provider; the known ones are named.
        PluginBrokenError: the package that brings it is broken.
        KeyMissingError: the provider needs a key and the environment holds none.
    """
    return cast(Provider, PROVIDERS.load(settings.provider)).create(settings)
