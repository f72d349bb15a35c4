"""A careless model on applications without curated subtasks: what it does right is verified, what it only
claims is not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.model_clients.client import Question
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.role_models import R, RoleModels
from taskloom.model_clients.settings import CallSettings, ModelSettings
from taskloom.prompts.inputs import EvaluationWriterInput
from taskloom.synthesis.cross_verification.cross_verification import Verification
from taskloom.synthesis.exploration.exploration import Exploration, ExplorationSettings
from taskloom.synthesis.exploration.memory import ExplorationMemory
from taskloom.taskgraph.records.model_calls import ModelRole
from tests.model_clients.requests import KEY
from tests.servers.models.careless.careless_model import answer
from tests.servers.models.careless.writing import watch
from tests.servers.models.server import LocalModelServer
from tests.servers.web_applications.text_browser import TextBrowserSettings, applications, create
from tests.synthesis.simulated_world import APPLICATIONS, SimulatedEnvironments, World

WALKING = ExplorationSettings(walk_steps=30)


class WatchedModels(RoleModels):
    """Lets the careless writer watch the performances."""

    async def ask(self, question: Question[R], *, stage: str, item_id: str, attempt: int = 0) -> R:
        if isinstance(question, EvaluationWriterInput):
            watch(question)
        return await super().ask(question, stage=stage, item_id=item_id, attempt=attempt)


@asynccontextmanager
async def careless(folder: Path) -> AsyncIterator[tuple[RoleModels, LocalModelServer, Ledger]]:
    async with LocalModelServer(answerer=answer, key=KEY) as server:
        model = ModelSettings(provider="openai", model="m", base_url=server.url, api_key_variable="TEST_KEY")
        with Ledger(folder / "ledger.sqlite") as ledger:
            async with WatchedModels(CallSettings(default=model), ledger) as models:
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


async def on_small_web_applications(
    models: RoleModels, sandbox: EvaluationSandbox, before: World | None = None
) -> World:
    """What becomes of proposals for a list of watches and a library, of which nothing is known but what was
    found `before`."""
    world = World(
        models,
        sandbox,
        {item.name: item for item in applications()},
        environments=SimulatedEnvironments(lambda name: create(TextBrowserSettings())),
        exploration=ExplorationSettings(walk_steps=40),
        memory={found.application.name: remembered(found, before) for found in before.explored}
        if before
        else {},
    )
    known = [item.verified for item in before.done.values() if item.verified is not None] if before else []
    world.categories |= before.categories if before else {}
    await world.pool.announce(item.subtask for item in known)
    for item in known:
        await world.pool.settle(item.subtask.subtask_id, item)
    await world.verify()
    return world


def remembered(found: Exploration, world: World) -> ExplorationMemory:
    """What a later exploration is told of one application."""
    here = [item for item in world.done.values() if item.subtask.application == found.application.name]
    return ExplorationMemory(
        verified=tuple(item.subtask for item in here if item.verified is not None),
        rejected=tuple(item.rejection for item in here if item.rejection is not None),
        screens=found.screens,
    )


@pytest.mark.slow
async def test_most_of_its_proposals_for_unknown_applications_are_verified_and_later_ones_are_others(
    shared_sandbox: EvaluationSandbox, tmp_path: Path
) -> None:
    async with careless(tmp_path) as (models, _, _):
        first = await on_small_web_applications(models, shared_sandbox)
        second = await on_small_web_applications(models, shared_sandbox, first)
    for world in (first, second):
        assert [item for found in world.explored for item in found.rejections] == []
        kept = [item for item in world.done.values() if item.verified is not None]
        assert len(world.done) >= 5 and len(kept) >= 0.8 * len(world.done), [
            item.rejection for item in world.done.values()
        ]
    said = [{item.subtask.instruction_template for item in world.done.values()} for world in (first, second)]
    assert not said[0] & said[1]
    assert any("Delete" in text or "Remove" in text for text in said[1])
