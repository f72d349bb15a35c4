"""What a Prefect server needs once for taskloom's deployments: a work pool, and limits that all runs
share."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from prefect import get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.exceptions import ObjectAlreadyExists

from taskloom.environments.lookup import platforms_in
from taskloom.flows.running.shared_places import environments_limit, key_limit
from taskloom.flows.settings import Settings
from taskloom.model_clients.settings import ModelSettings
from taskloom.offline.models import PROVIDER
from taskloom.resources.record import Record

WORK_POOL = "taskloom"


class SharedLimit(Record):
    """One of Prefect's global concurrency limits."""

    name: str
    """Its name."""
    limit: int
    """How many may hold a place at a time, over all runs on all machines."""


def limits_of(settings: Settings) -> list[SharedLimit]:
    """The limits of these settings: one for environments of each platform, one for each key that models
    are called with."""
    keys: dict[str, int] = {}
    for model in _models(settings):
        if model.provider != PROVIDER:
            name, most = key_limit(model), settings.models.limit(model).concurrency
            keys[name] = max(most, keys.get(name, 0))
    environments = [
        SharedLimit(name=environments_limit(name), limit=settings.first_environments)
        for name in platforms_in(settings.platform)
    ]
    return [*environments, *(SharedLimit(name=name, limit=most) for name, most in sorted(keys.items()))]


async def set_up(settings: Settings) -> list[SharedLimit]:
    """Create the work pool and the limits; limits that exist are set to what the settings say. Returns the
    limits."""
    limits = limits_of(settings)
    async with get_client() as client:
        with suppress(ObjectAlreadyExists):  # it stays as its owner has set it since
            await client.create_work_pool(WorkPoolCreate(name=WORK_POOL, type="process"))
        for item in limits:
            await client.upsert_global_concurrency_limit_by_name(item.name, item.limit)
    return limits


def _models(settings: Settings) -> Iterable[ModelSettings]:
    yield settings.models.default
    for player in settings.models.roles.values():
        yield from (player.model, *player.fallbacks)
