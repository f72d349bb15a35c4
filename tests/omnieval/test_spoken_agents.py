"""One scripted model per format behind a server: it clicks a field and ends, as its family writes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from taskloom.model_clients.wire.sdk_calls import list_at, text_at, value_at
from taskloom.omnieval.lookup import AGENTS
from taskloom.taskgraph.records.gestures import ClickInput, KeyboardInput
from tests.model_clients.requests import KEY
from tests.omnieval.agents_asked import INSTRUCTION, NOTES, asking, attempted, simulated
from tests.omnieval.replies.said import SAID
from tests.omnieval.replies.test_formats import FORMATS, in_grid
from tests.servers.models.behaviour import WireCall


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


def ends(name: str) -> str:
    """How a model of that format says that it is done."""
    return next(text for text, meant in SAID[name].replies if getattr(meant, "status", "") == "finish")


@pytest.mark.parametrize("name", sorted(SAID))
async def test_a_model_of_every_format_clicks_where_it_means_to(name: str, tmp_path: Path) -> None:
    async with simulated() as environment:
        seen = await environment.reset([NOTES])
        field = next(item for item in seen.controls if item.control_type == "Edit")
        said = [SAID[name].click(*in_grid(FORMATS[name], field.point, seen.screen_size)), ends(name)]
        async with asking(lambda call: said.pop(0), tmp_path) as (models, server):
            found = await attempted(name, models, environment)
    assert found.termination == "finished", found.message
    (step,) = found.steps
    assert isinstance(step.action, ClickInput) and step.target is not None
    assert step.target.text == field.text
    first, second = server.calls
    assert INSTRUCTION in first.turns[0] and NOTES.manual.strip() in first.system
    assert (first.images, second.images) == (1, 2)
    assert len(second.turns) == 3, "the model is shown what it said itself"
    declared = [text_at(tool, "function", "name") for tool in list_at(first.body, "tools")]
    assert bool(declared) == FORMATS[name].declared


async def test_functions_that_the_server_reads_are_understood_as_calls(tmp_path: Path) -> None:
    """Gemini's address answers with tool calls, and no words."""
    from taskloom.model_clients.settings import ModelSettings
    from taskloom.model_clients.wire.openai_json import spoken_reply

    body = {
        "model": "gemini",
        "choices": [
            {
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": None,
                    "reasoning_content": "Where is it?",
                    "tool_calls": [
                        {
                            "type": "function",
                            "function": {"name": "click_at", "arguments": '{"x": 500, "y": 500}'},
                        },
                        {"type": "function", "function": {"name": "go_back", "arguments": "no JSON"}},
                    ],
                },
            }
        ],
    }
    text = spoken_reply(ModelSettings(provider="openai", model="m"), json.loads(json.dumps(body))).text
    assert text.splitlines() == [
        "<think>Where is it?</think>",
        '<tool_call>{"name": "click_at", "arguments": {"x": 500, "y": 500}}</tool_call>',
        '<tool_call>{"name": "go_back", "arguments": "no JSON"}</tool_call>',
    ]


async def test_only_the_last_pictures_are_shown_and_all_words(tmp_path: Path) -> None:
    said = [SAID["kimi"].click(0.5, 0.2 + number / 10) for number in range(5)] + [ends("kimi")]
    async with simulated() as environment, asking(lambda call: said.pop(0), tmp_path) as (models, server):
        await attempted("kimi", models, environment, {"pictures": 2})
    assert [call.images for call in server.calls] == [1, 2, 2, 2, 2, 2]
    assert [len(call.turns) for call in server.calls] == [1, 3, 5, 7, 9, 11]


async def test_a_batch_is_done_action_by_action(tmp_path: Path) -> None:
    def answer(call: WireCall) -> str:
        if len(call.turns) > 1:
            return ends("qwen3_5")
        typing = "<parameter=action>type</parameter><parameter=text>50%</parameter>"
        return f"{place}<function=computer_use>{typing}</function>"

    async with simulated() as environment:
        seen = await environment.reset([NOTES])
        field = next(item for item in seen.controls if item.control_type == "Edit")
        place = SAID["qwen3_5"].click(*in_grid(FORMATS["qwen3_5"], field.point, seen.screen_size))
        async with asking(answer, tmp_path) as (models, server):
            found = await attempted("qwen3_5", models, environment)
    assert [type(step.action) for step in found.steps] == [ClickInput, KeyboardInput]
    assert any(item.value == "50%" for item in found.final_evidence.controls)
    assert len(server.calls) == 2


async def test_an_action_that_is_refused_is_told_to_the_model(tmp_path: Path) -> None:
    said = [SAID["kimi"].click(1.5, 0.5), ends("kimi")]
    async with simulated() as environment, asking(lambda call: said.pop(0), tmp_path) as (models, server):
        found = await attempted("kimi", models, environment)
    assert found.termination == "finished" and "outside" in found.steps[0].problem
    assert "not carried out" in server.calls[1].turns[-1] and "outside" in server.calls[1].turns[-1]


async def test_a_model_that_asks_a_question_nobody_answers_gives_up(tmp_path: Path) -> None:
    async with (
        simulated() as environment,
        asking(lambda call: "Action: call_user()", tmp_path) as (models, _),
    ):
        found = await attempted("ui_tars_1", models, environment)
    assert found.termination == "gave_up" and found.message


def test_agents_that_ask_a_model_say_so() -> None:
    assert all(getattr(AGENTS.load(name), "MODEL", False) for name in FORMATS)
    assert value_at(FORMATS["gemini"].declarations()[0], "parameters", "required") == ["x", "y"]
