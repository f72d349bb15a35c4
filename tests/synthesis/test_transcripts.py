"""Sessions of models, written by hand with the habits of real ones, through the whole chain and again from
the ledger alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.role_models import RoleModels
from taskloom.model_clients.settings import CallSettings, ModelSettings
from taskloom.synthesis.cross_verification.cross_verification import Verification
from taskloom.synthesis.exploration.exploration import ExplorationSettings
from taskloom.synthesis.trajectories.reperformance import perform_again
from tests.model_clients.requests import KEY
from tests.servers.models.server import LocalModelServer
from tests.servers.web_applications.text_browser import TextBrowserSettings, applications, create
from tests.synthesis.simulated_world import APPLICATIONS, SimulatedEnvironments, World, simulated
from tests.transcripts.reading import Transcript

SESSIONS = {
    "notes": "simulated_notes",
    "mail": "simulated_mail",
    "watches": "watches",
    "library": "library",
}
REFUSED = {
    "notes": "not 'File name'",
    "mail": "names neither a control nor a point",
    "watches": "not 'Edit'",
    "library": "names neither a control nor a point",
}
SMALL = {item.name: item for item in applications()}


async def verified(
    name: str, models: RoleModels, sandbox: EvaluationSandbox
) -> tuple[World, list[Verification]]:
    known = SMALL.get(name) or APPLICATIONS[name].model_copy(update={"example_subtasks": ()})
    environments = SimulatedEnvironments(
        (lambda platform: create(TextBrowserSettings())) if name in SMALL else simulated
    )
    settings = ExplorationSettings(walk_steps=20)
    world = World(models, sandbox, {name: known}, environments=environments, exploration=settings)
    return world, list((await world.verify()).values())


@pytest.mark.parametrize("session", SESSIONS)
async def test_a_session_with_the_habits_of_real_models_is_verified_and_replayed(
    session: str, shared_sandbox: EvaluationSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    transcript = Transcript(session)
    async with LocalModelServer(answerer=transcript, key=KEY) as server:
        model = ModelSettings(provider="openai", model="m", base_url=server.url, api_key_variable="TEST_KEY")
        with Ledger(tmp_path / "ledger.sqlite") as ledger:
            async with RoleModels(CallSettings(default=model), ledger) as models:
                world, (done,) = await verified(SESSIONS[session], models, shared_sandbox)
        asked = len(server.calls)
    assert done.verified is not None, done.rejection
    assert transcript.unused == []
    refused = [step for item in done.trajectories for step in item.steps if step.problem]
    assert [REFUSED[session] in step.problem for step in refused] == [True]
    assert asked == sum(len(part.replies) for part in transcript.parts)

    shutil.copy(tmp_path / "ledger.sqlite", tmp_path / "other.sqlite")
    with Ledger(tmp_path / "other.sqlite") as ledger:
        async with RoleModels(CallSettings(default=model, replay=True), ledger) as models:
            replayed, (again,) = await verified(SESSIONS[session], models, shared_sandbox)
    assert again.verified is not None
    assert again.verified.function.source == done.verified.function.source
    assert [item.steps for item in again.trajectories] == [item.steps for item in done.trajectories]
    await replayed.environments.close()

    application = world.applications[SESSIONS[session]]
    async with world.environments.lease(application.platform, [application.name]) as environment:
        for recorded in done.verified.trajectories:
            start = await environment.reset(list(world.applications.values()))
            initial = await environment.evidence()
            recording = await perform_again(environment, recorded, start)
            assert recording.termination == "finished", recording.message
            judged = shared_sandbox.evaluate(
                done.verified.function.source, recorded.parameters, await environment.evidence(), initial
            )
            assert judged.passed, judged
    await world.environments.close()
