"""Chat models by marks, list and picture, and the providers' computer tools, as agents to evaluate."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import JsonValue

from taskloom.environments.errors import AgentError, UnusableReplyError
from taskloom.omnieval.errors import UnknownAgentError
from taskloom.omnieval.lookup import AGENTS
from tests.model_clients.requests import KEY
from tests.omnieval.agents_asked import INSTRUCTION, NOTES, asking, attempted, brief, simulated
from tests.servers.models.behaviour import WireCall


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


def reply(status: JsonValue = "CONTINUE", **values: JsonValue) -> str:
    return json.dumps({"status": status, "thought": "The field is there.", **values})


@pytest.mark.parametrize(
    ("name", "pictures", "listed"),
    [
        ("set_of_marks", 1, False),
        ("marks_and_list", 1, True),
        ("control_tree", 0, True),
        ("pixels", 1, False),
    ],
)
async def test_a_chat_model_is_shown_what_its_agent_shows(
    name: str, pictures: int, listed: bool, tmp_path: Path
) -> None:
    async with simulated() as environment:
        seen = await environment.reset([NOTES])
        field = next(item for item in seen.controls if item.control_type == "Edit")
        x, y = (value * 1000 / side for value, side in zip(field.point, seen.screen_size, strict=True))
        where: dict[str, JsonValue] = {"control_label": field.label, "control_text": field.text}
        args: dict[str, JsonValue] = {"keys": "a"}
        if name == "pixels":
            where, args = {}, {"keys": "a", "points": [{"x": x, "y": y}]}
        said = [reply(function="keyboard_input", args=args, **where), reply("FINISH", message="42")]
        async with asking(lambda call: said.pop(0), tmp_path) as (models, server):
            found = await attempted(name, models, environment)
    assert found.termination == "finished", found.message
    assert any(item.value == "a" for item in found.final_evidence.controls)
    assert [call.images for call in server.calls] == [pictures, pictures]
    told = server.calls[0].system + server.calls[0].turns[0]
    assert ("<Available controls>" in told) == listed
    assert ("numbered box" in told) == ("marks" in name)
    assert "keyboard_input" in server.calls[1].turns[0]


async def test_earlier_screens_are_shown_where_they_are_asked_for(tmp_path: Path) -> None:
    said = [reply(function="wait", args={"seconds": 0})] * 3 + [reply("GIVE_UP", message="no")]
    async with simulated() as environment, asking(lambda call: said.pop(0), tmp_path) as (models, server):
        found = await attempted("set_of_marks", models, environment, {"pictures": 3})
    assert (found.termination, found.message) == ("gave_up", "no")
    assert [call.images for call in server.calls] == [1, 2, 3, 3]


async def test_a_prompt_of_its_own_takes_the_place_of_the_system_part(tmp_path: Path) -> None:
    def gives_up(call: WireCall) -> str:
        return reply("GIVE_UP", message="no")

    own = "Do {{ instruction }} and answer with JSON."
    async with simulated() as environment, asking(gives_up, tmp_path) as (models, server):
        seen = await environment.reset([NOTES])
        agent = AGENTS.load("control_tree").create(replace(brief(models), prompt=own))
        assert (await agent.decide(INSTRUCTION, seen, ())).status == "give_up"
        unfit = AGENTS.load("pixels").create(replace(brief(models), prompt="{{ secret }}"))
        with pytest.raises(AgentError, match="secret"):
            await unfit.decide(INSTRUCTION, seen, ())
    (call,) = server.calls
    assert call.system.startswith(f"Do {INSTRUCTION} and answer with JSON.")
    assert INSTRUCTION in call.turns[0]


async def test_a_function_that_lacks_something_is_an_unusable_reply(tmp_path: Path) -> None:
    async with simulated() as environment:
        seen = await environment.reset([NOTES])
        async with asking(lambda call: reply(function="keyboard_input"), tmp_path) as (models, _):
            with pytest.raises(UnusableReplyError, match="keyboard_input"):
                await AGENTS.load("control_tree").create(brief(models)).decide("x", seen, ())


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_computer_tool_is_an_agent(provider: str, tmp_path: Path) -> None:
    async with simulated() as environment:
        seen = await environment.reset([NOTES])
        x, y = next(item for item in seen.controls if item.control_type == "Edit").point
        click: JsonValue = {"name": "left_click", "input": {"coordinate": [x, y]}}
        if provider == "openai":
            click = {"type": "click", "button": "left", "x": x, "y": y}

        def answer(call: WireCall) -> str:
            first = "tool_result" not in json.dumps(call.body) and "call_output" not in json.dumps(call.body)
            return json.dumps({"calls": [{"actions": [click]}]} if first else {"say": "DONE"})

        async with asking(answer, tmp_path, provider, "responses") as (models, _):
            found = await attempted(f"{provider}_computer", models, environment)
    assert found.termination == "finished" and len(found.steps) == 1, found.message


@pytest.mark.parametrize(
    ("name", "settings"),
    [("pixels", {"coordinates": "miles"}), ("openai_computer", {"safety_checks": "perhaps"})],
)
def test_a_setting_that_is_none_is_refused(name: str, settings: dict[str, JsonValue]) -> None:
    with pytest.raises(AgentError, match=r"miles|perhaps"):
        AGENTS.load(name).create(brief(None, settings))


async def test_the_first_control_is_clicked_and_nothing_else(tmp_path: Path) -> None:
    async with simulated() as environment:
        found = await attempted("first_control", None, environment, {"steps": 2})
    assert found.termination == "finished" and len(found.steps) == 2


async def test_a_plan_is_written_once_and_the_executor_follows_it(tmp_path: Path) -> None:
    def answer(call: WireCall) -> str:
        if "Write the plan." in call.turns[-1]:
            return json.dumps({"steps": ["In Notes, open the field.", "Type a."]})
        return "Action: wait()" if len(call.turns) == 1 else "Action: finished(content='ok')"

    async with simulated() as environment, asking(answer, tmp_path) as (models, server):
        found = await attempted("planner_executor", models, environment, {"executor": "ui_tars_1"})
    assert found.termination == "finished" and len(found.steps) == 1, found.message
    planned, *followed = server.calls
    assert planned.images == 1 and NOTES.manual.strip() in planned.system
    assert all("2. Type a." in call.turns[-1] or "2. Type a." in call.turns[0] for call in followed)
    with pytest.raises(UnknownAgentError, match="nobody"):
        AGENTS.load("planner_executor").create(brief(models, {"executor": "nobody"}))
