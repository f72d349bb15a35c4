"""The providers' computer tools play the actor: over the wire of each, on a simulated application."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import JsonValue

from taskloom.environments.environment import Environment
from taskloom.environments.episode import run_episode
from taskloom.environments.errors import ActionInvalidError
from taskloom.environments.lookup import platform
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.role_models import RoleModels
from taskloom.model_clients.settings import CallSettings, ModelSettings
from taskloom.model_clients.wire.json_paths import list_at, value_at
from taskloom.synthesis.trajectories.briefing import Briefing
from taskloom.synthesis.trajectories.computer_actions import chord, gesture_of, picture_and_scale
from taskloom.synthesis.trajectories.computer_agent import ComputerAgent, SafetyPolicy
from taskloom.taskgraph.records.assignment import Assignment
from taskloom.taskgraph.records.computer_use import ComputerAction
from taskloom.taskgraph.records.gestures import ClickInput, KeyboardInput, WheelMouseInput
from taskloom.taskgraph.records.interaction import Observation, Screenshot
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
    made = module.create(module.settings({}))
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
    provider: tuple[str, str], folder: Path, *replies: str
) -> AsyncIterator[tuple[RoleModels, LocalModelServer]]:
    """Models whose one provider gives `replies` one after the other."""
    waiting = list(replies)
    async with LocalModelServer(answerer=lambda call: waiting.pop(0), key=KEY) as server:
        url = server.url if provider == OPENAI else server.url.removesuffix("/v1")
        model = ModelSettings(
            provider=provider[0], model=provider[1], base_url=url, api_key_variable="TEST_KEY"
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
        assert value_at(call.body, "tools", 0, "configs", "zoom") == {"enabled": False}
        assert value_at(call.body, "tools", 0, "name") is None


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


@pytest.mark.parametrize(
    ("keys", "written"),
    [
        (("CTRL", "a"), "^a"),
        (("ctrl", "SHIFT", "ArrowUp"), "^+{UP}"),
        (("Return",), "{ENTER}"),
        (("Page_Down",), "{PGDN}"),
        (("cmd", "C"), "^c"),
        (("F5",), "{F5}"),
        (("%",), "{%}"),
    ],
)
def test_keys_are_understood_as_either_provider_names_them(keys: tuple[str, ...], written: str) -> None:
    assert chord(keys) == written


@pytest.mark.parametrize("keys", [("Hyper", "x"), ("ThumbUp",), ()])
def test_an_unknown_key_is_refused_by_its_name(keys: tuple[str, ...]) -> None:
    with pytest.raises(ActionInvalidError, match=keys[0] if keys else "no key"):
        chord(keys)


def test_a_large_screen_is_sent_smaller_and_points_are_scaled_back() -> None:
    import io

    from PIL import Image

    content = io.BytesIO()
    Image.new("RGB", (2560, 1600)).save(content, "PNG")
    picture, scale = picture_and_scale(Screenshot.of(content.getvalue()), (2560, 1600))
    sent = Image.open(io.BytesIO(picture.png)).size
    assert sent[0] * sent[1] <= 1_150_000 and max(sent) <= 1568
    corner = gesture_of(ComputerAction(kind="click", path=((sent[0] - 1, sent[1] - 1),)), scale, None)
    assert isinstance(corner, ClickInput) and corner.point is not None
    assert abs(corner.point[0] - 2559) < 4 and abs(corner.point[1] - 1599) < 4


def test_an_action_without_a_place_is_done_where_the_pointer_is() -> None:
    assert gesture_of(ComputerAction(kind="click"), 1, (7, 8)) == ClickInput(point=(7, 8))
    scrolled = gesture_of(ComputerAction(kind="scroll", wheel=(0, -3)), 1, None)
    assert scrolled == WheelMouseInput(wheel_distance=-3)
    with pytest.raises(ActionInvalidError, match="pointer is nowhere"):
        gesture_of(ComputerAction(kind="click"), 1, None)
