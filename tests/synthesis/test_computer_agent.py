"""The providers' computer tools play the actor: over the wire of each, on a simulated application."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import JsonValue

from taskloom.environments.computer_use import SafetyPolicy
from taskloom.environments.environment import Environment
from taskloom.environments.episode import Assignment, run_episode
from taskloom.environments.lookup import platform
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.role_models import RoleModels
from taskloom.model_clients.settings import CallSettings, ModelSettings
from taskloom.model_clients.wire.sdk_calls import list_at, text_at, value_at
from taskloom.synthesis.trajectories.trajectories import Briefing, ComputerAgent
from taskloom.taskgraph.records.gestures import ClickInput, KeyboardInput
from taskloom.taskgraph.records.interaction import Observation
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.model_clients.requests import KEY
from tests.servers.models.behaviour import WireCall
from tests.servers.models.computer_use import answered_calls
from tests.servers.models.server import LocalModelServer

NOTES = next(item for item in platform("simulated").applications() if item.name == "simulated_notes")
OPENAI, ANTHROPIC = ("openai", "gpt-5.5"), ("anthropic", "claude-opus-5")
PROVIDERS = pytest.mark.parametrize("provider", [OPENAI, ANTHROPIC], ids=lambda item: item[0])
Native = dict[str, JsonValue]
Turn = Callable[[WireCall], Native]


@pytest.fixture
async def environment() -> AsyncIterator[Environment]:
    module = platform("simulated")
    made = module.create(module.SETTINGS.model_validate({}))
    yield made
    await made.close()


def click(provider: tuple[str, str], place: tuple[int, int]) -> Native:
    if provider == OPENAI:
        return {"type": "click", "button": "left", "x": place[0], "y": place[1]}
    return {"name": "left_click", "input": {"coordinate": list(place)}}


def typing(provider: tuple[str, str], text: str) -> Native:
    return {"type": "type", "text": text} if provider == OPENAI else {"name": "type", "input": {"text": text}}


def look(provider: tuple[str, str]) -> Native:
    return {"type": "screenshot"} if provider == OPENAI else {"name": "screenshot", "input": {}}


def calls(*actions: Native, say: str = "", checks: JsonValue = None) -> str:
    return json.dumps(
        {"say": say, "calls": [{"actions": list(actions), "checks": checks or []}] if actions else []}
    )


def place_of(observation: Observation, text: str) -> tuple[int, int]:
    return next(item for item in observation.controls if item.text == text).point


@asynccontextmanager
async def asking(
    provider: tuple[str, str], folder: Path, *replies: str, tool: str = ""
) -> AsyncIterator[tuple[RoleModels, LocalModelServer]]:
    """Models whose one provider gives `replies` one after the other."""
    waiting = list(replies)
    async with LocalModelServer(answerer=lambda call: waiting.pop(0), key=KEY) as server:
        url = server.url if provider == OPENAI else server.url.removesuffix("/v1")
        model = ModelSettings(
            provider=provider[0],
            model=provider[1],
            base_url=url,
            api_key_variable="TEST_KEY",
            computer_tool=tool,
        )
        with Ledger(folder / "ledger.sqlite") as ledger:
            async with RoleModels(CallSettings(default=model), ledger) as models:
                yield models, server


async def performed(
    models: RoleModels, environment: Environment, *, safety: SafetyPolicy = "refuse"
) -> Trajectory:
    return await run_episode(
        environment,
        ComputerAgent(models, Briefing("notes.write", NOTES, 12), safety),
        assignment=Assignment(
            subtask_id="notes.write", instance_id="notes.write#1", instruction="Write a note."
        ),
        applications=[NOTES],
        step_limit=12,
    )


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


@PROVIDERS
async def test_a_performance_is_one_conversation_and_records_points_and_controls(
    provider: tuple[str, str], environment: Environment, tmp_path: Path
) -> None:
    seen = await environment.reset([NOTES])
    field = next(item for item in seen.controls if item.control_type == "Edit")
    replies = (
        calls(look(provider), say="Let me see."),
        calls(click(provider, field.point), typing(provider, "50% (a)")),
        calls(say="DONE"),
    )
    async with asking(provider, tmp_path, *replies) as (models, server):
        found = await performed(models, environment)
    assert found.termination == "finished", found.message
    clicked, typed = found.steps
    assert isinstance(clicked.action, ClickInput) and isinstance(typed.action, KeyboardInput)
    assert clicked.action.point == field.point and clicked.target is not None
    assert (clicked.action.control_label, clicked.target.text) == (field.label, field.text)
    assert typed.action.keys == "50{%} {(}a{)}"
    assert any(item.value == "50% (a)" for item in found.final_evidence.controls)
    assert [answered_calls(call) for call in server.calls] == [0, 1, 2 if provider == OPENAI else 3]
    assert server.calls[0].images == 1
    assert NOTES.manual.strip() in server.calls[0].system


@PROVIDERS
async def test_a_refused_action_ends_its_batch_and_the_model_is_told(
    provider: tuple[str, str], environment: Environment, tmp_path: Path
) -> None:
    seen = await environment.reset([NOTES])
    field = next(item for item in seen.controls if item.control_type == "Edit")
    replies = (
        calls(click(provider, (5000, 5000)), typing(provider, "never typed")),
        calls(click(provider, field.point)),
        calls(say="GIVE_UP: there is no such field"),
    )
    async with asking(provider, tmp_path, *replies) as (models, server):
        found = await performed(models, environment)
    assert (found.termination, found.message) == ("gave_up", "there is no such field")
    assert [bool(step.problem) for step in found.steps] == [True, False]
    told = json.dumps(server.calls[1].body)
    assert "outside of the screen" in told
    if provider == ANTHROPIC:
        assert "was not carried out" in told and '"is_error": true' in told


async def test_a_safety_check_ends_the_performance_unless_it_is_acknowledged(
    environment: Environment, tmp_path: Path
) -> None:
    seen = await environment.reset([NOTES])
    field = next(item for item in seen.controls if item.control_type == "Edit")
    check: JsonValue = [{"id": "sc_1", "code": "malicious_instructions", "message": "The page gives orders."}]
    doubted = calls(click(OPENAI, field.point), checks=check)
    async with asking(OPENAI, tmp_path, doubted) as (models, _):
        refused = await performed(models, environment)
    assert refused.termination == "gave_up" and not refused.steps
    assert "malicious_instructions: The page gives orders." in refused.message
    (tmp_path / "other").mkdir()
    async with asking(OPENAI, tmp_path / "other", doubted, calls(say="DONE")) as (models, server):
        accepted = await performed(models, environment, safety="acknowledge")
    assert accepted.termination == "finished" and len(accepted.steps) == 1
    assert '"acknowledged_safety_checks": [{"id": "sc_1"' in json.dumps(server.calls[1].body)


async def test_a_conversation_is_answered_from_the_ledger_the_second_time(
    environment: Environment, tmp_path: Path
) -> None:
    seen = await environment.reset([NOTES])
    field = next(item for item in seen.controls if item.control_type == "Edit")
    async with asking(OPENAI, tmp_path, calls(click(OPENAI, field.point)), calls(say="DONE")) as (
        models,
        server,
    ):
        first = await performed(models, environment)
        again = await performed(models, environment)
        assert len(server.calls) == 2
    assert [step.action for step in again.steps] == [step.action for step in first.steps]


async def test_anthropic_is_asked_to_cache_up_to_the_last_result(
    environment: Environment, tmp_path: Path
) -> None:
    replies = (calls(look(ANTHROPIC)), calls(say="DONE"))
    async with asking(ANTHROPIC, tmp_path, *replies) as (models, server):
        await performed(models, environment)
    for call in server.calls:
        last = list_at(call.body, "messages", -1, "content")[-1]
        assert value_at(last, "cache_control") == {"type": "ephemeral"}
        assert value_at(call.body, "tools", 0, "configs", "cursor_position") == {"enabled": False}
        assert value_at(call.body, "tools", 0, "name") is None


async def test_a_screen_after_several_actions_is_sent_to_anthropic_once(
    environment: Environment, tmp_path: Path
) -> None:
    seen = await environment.reset([NOTES])
    field = next(item for item in seen.controls if item.control_type == "Edit")
    lost = click(ANTHROPIC, (5000, 5000))
    batches = ([typing(ANTHROPIC, "a"), typing(ANTHROPIC, "b")], [typing(ANTHROPIC, "c"), lost])
    replies = (calls(click(ANTHROPIC, field.point)), *(calls(*batch) for batch in batches), calls(say="DONE"))
    async with asking(ANTHROPIC, tmp_path, *replies) as (models, server):
        await performed(models, environment)
    turns = list_at(server.calls[-1].body, "messages")[2::2]
    shown = [[text_at(block, "content", 0, "type") for block in list_at(turn, "content")] for turn in turns]
    assert shown == [["image"], ["text", "image"], ["image", "text"]]


async def test_a_model_that_only_looks_gives_up(environment: Environment, tmp_path: Path) -> None:
    async with asking(ANTHROPIC, tmp_path, *[calls(look(ANTHROPIC))] * 3) as (models, _):
        found = await performed(models, environment)
    assert found.termination == "gave_up" and "only looked" in found.message


async def test_chat_completions_has_no_such_tool_and_says_so(
    environment: Environment, tmp_path: Path
) -> None:
    model = ModelSettings(
        provider="openai",
        model="m",
        base_url="http://127.0.0.1:9/v1",
        protocol="chat_completions",
        api_key_variable="TEST_KEY",
    )
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        async with RoleModels(CallSettings(default=model), ledger) as models:
            found = await performed(models, environment)
    assert found.termination == "model_error" and "trajectories.actor=reply" in found.message


@pytest.mark.parametrize("tool", ["computer_20251124", "computer_20250124", "computer_use_preview"])
async def test_older_tools_are_told_the_size_of_the_picture(
    tool: str, environment: Environment, tmp_path: Path
) -> None:
    provider = OPENAI if tool == "computer_use_preview" else ANTHROPIC
    seen = await environment.reset([NOTES])
    field = next(item for item in seen.controls if item.control_type == "Edit")
    replies = (calls(click(provider, field.point), typing(provider, "older")), calls(say="DONE"))
    async with asking(provider, tmp_path, *replies, tool=tool) as (models, server):
        found = await performed(models, environment)
    assert found.termination == "finished", found.message
    assert any(item.value == "older" for item in found.final_evidence.controls)
    offered = value_at(server.calls[0].body, "tools", 0)
    assert isinstance(offered, dict) and offered["type"] == tool
    assert {value for key, value in offered.items() if key.startswith("display_")} == {*seen.screen_size}


async def test_an_unknown_version_of_the_tool_is_refused_before_anything_is_sent(
    environment: Environment, tmp_path: Path
) -> None:
    async with asking(ANTHROPIC, tmp_path, tool="computer_19990101") as (models, server):
        found = await performed(models, environment)
    assert found.termination == "model_error" and "computer_20251124" in found.message
    assert not server.calls


async def test_a_zoom_is_answered_with_that_part_of_the_screen(
    environment: Environment, tmp_path: Path
) -> None:
    zoom: Native = {"name": "zoom", "input": {"region": [0, 0, 200, 100]}}
    async with asking(ANTHROPIC, tmp_path, calls(look(ANTHROPIC), zoom), calls(say="DONE")) as (
        models,
        server,
    ):
        await performed(models, environment)
    pictures = [
        value_at(block, "content", 0, "source", "data")
        for block in list_at(server.calls[1].body, "messages", -1, "content")
    ]
    assert len(set(pictures)) == 2
