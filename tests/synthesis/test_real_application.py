"""The chain from exploration to a verified subtask on a real application in a real browser."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from taskloom.environments.environment import Environment
from taskloom.environments.installing.applications import is_installed
from taskloom.environments.lookup import platform
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.resources.reading.catalog import load_applications
from tests.synthesis.models import TestModels
from tests.synthesis.simulated_world import World

pytestmark = [pytest.mark.browser, pytest.mark.applications, pytest.mark.slow]

DATA = Path(os.environ.get("TASKLOOM_DATA", "taskloom-data"))
TIDDLYWIKI = {"tiddlywiki": load_applications()["tiddlywiki"]}


class OneBrowser:
    """Leases the one environment to one item after the other."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.turn = asyncio.Lock()

    @asynccontextmanager
    async def lease(self, name: str, applications: Collection[str]) -> AsyncIterator[Environment]:
        async with self.turn:
            yield self.environment


async def test_a_curated_subtask_of_tiddlywiki_is_verified(shared_sandbox: EvaluationSandbox) -> None:
    if not is_installed(TIDDLYWIKI["tiddlywiki"], DATA):
        pytest.skip("tiddlywiki is not installed; `taskloom install tiddlywiki` does it")
    module = platform("web_browser")
    environment = module.create(module.SETTINGS.model_validate({"data_folder": str(DATA)}))
    world = World(
        TestModels(TIDDLYWIKI),
        shared_sandbox,
        TIDDLYWIKI,
        environments=OneBrowser(environment),  # type: ignore[arg-type]
    )
    try:
        done = (await world.verify("tiddlywiki.create_note"))["tiddlywiki.create_note"]
    finally:
        await environment.close()
    assert done.verified is not None, done.rejection
    assert not done.verified.subtask.simulated
    source = done.verified.function.source
    assert "check_file" in source or "check_record" in source
