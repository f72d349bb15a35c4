"""A careless model on applications without curated subtasks: what it does right is verified, what it only claims is not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from evaluators_api.interpreter.sandbox import EvaluationSandbox
from model_clients.ledger.ledger import Ledger
from model_clients.role_models import RoleModels
from model_clients.settings import CallSettings, ModelSettings
from synthesis.cross_verification.cross_verification import Verification
from synthesis.exploration.exploration import ExplorationSettings
from taskgraph.records.model_calls import ModelRole
from tests.model_clients.requests import KEY
from tests.servers.models.careless.careless_model import answer
from tests.servers.models.server import LocalModelServer
from tests.synthesis.simulated_world import APPLICATIONS, World

WALKING = ExplorationSettings(walk_steps=30)


@asynccontextmanager
async def careless(folder: Path) -> AsyncIterator[tuple[RoleModels, LocalModelServer, Ledger]]:
    async with LocalModelServer(answerer=answer, key=KEY) as server:
        model = ModelSettings(provider="openai", model="m", base_url=server.url, api_key_variable="TEST_KEY")
        with Ledger(folder / "ledger.sqlite") as ledger:
            async with RoleModels(CallSettings(default=model), ledger) as models:
                yield models, server, ledger


async def verified(name: str, models: RoleModels, sandbox: EvaluationSandbox) -> list[Verification]:
    application = APPLICATIONS[name].model_copy(update={"example_subtasks": ()})
    world = World(models, sandbox, {name: application}, exploration=WALKING)
    try:
        return list((await world.verify()).values())
    finally:
        await world.environments.close()


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


async def test_what_it_can_do_is_verified_from_the_first_look_to_the_function(
    shared_sandbox: EvaluationSandbox, tmp_path: Path
) -> None:
    async with careless(tmp_path) as (models, server, ledger):
        (done,) = await verified("simulated_notes", models, shared_sandbox)
        calls = list(ledger.calls())
    assert done.verified is not None, done.rejection
    assert {item.termination for item in done.trajectories} == {"finished"}
    assert done.functions[0].source != done.verified.function.source
    assert {call.role for call in calls} == {ModelRole.EXPLORER, ModelRole.ACTOR, ModelRole.EVALUATION_WRITER}
    assert "#### After Button 'Save'" in server.calls[0].turns[0]


async def test_work_that_it_only_believes_to_be_done_is_not_verified(
    shared_sandbox: EvaluationSandbox, tmp_path: Path
) -> None:
    async with careless(tmp_path) as (models, _, _):
        (done,) = await verified("simulated_mail", models, shared_sandbox)
    assert {item.termination for item in done.trajectories} == {"finished"}
    assert done.verified is None and done.rejection is not None
    assert done.rejection.reason == "not_verified"
