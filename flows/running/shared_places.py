"""Places in Prefect's global limits, which all runs on all machines share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prefect.concurrency.asyncio import concurrency

from taskloom.environments.lookup import platforms_in
from taskloom.model_clients.settings import ModelSettings
from taskloom.offline.models import PROVIDER


def environments_limit(platform: str) -> str:
    """Name of the limit on the environments of `platform`."""
    return f"taskloom-environments-{platform}"


def key_limit(model: ModelSettings) -> str:
    """Name of the limit on calls with the key of `model`: by the variable that holds it, or by the provider.

    >>> key_limit(ModelSettings(provider="openai", model="m", api_key_variable="TEAM_KEY"))
    'taskloom-key-team-key'
    """
    return f"taskloom-key-{model.api_key_variable or model.provider}".lower().replace("_", "-")


@asynccontextmanager
async def environment_place(platform: str) -> AsyncIterator[None]:
    """One place among the environments of each platform that `platform` joins, while the block runs; waits
    until there is one."""
    async with concurrency([environments_limit(name) for name in platforms_in(platform)]):
        yield


@asynccontextmanager
async def call_place(model: ModelSettings) -> AsyncIterator[None]:
    """One place among the calls with the key of `model`, while the block runs; waits until there is one."""
    if model.provider == PROVIDER:
        yield
        return
    async with concurrency(key_limit(model)):
        yield
