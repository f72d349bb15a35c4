"""Replies in a slightly other form than asked for are read without a second call."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from taskloom.model_clients.conversation import parse_reply
from taskloom.model_clients.errors import ReplyInvalidError
from taskloom.prompts.replies import (
    ActorReply,
    DependencyJudgeReply,
    ExplorerReply,
    SummarizerReply,
    read_near_miss,
)

CLICK: dict[str, object] = {
    "status": "CONTINUE",
    "thought": "A new note is needed first.",
    "control_label": "4",
    "control_text": "New note",
    "function": "click_input",
    "args": {"button": "left"},
}
PROPOSAL: dict[str, object] = {
    "name": "rename_note",
    "instruction_template": "Rename the note '{note}' to '{title}'.",
    "parameter_sets": [[{"name": "note", "value": "Ideas"}, {"name": "title", "value": "Plans"}]],
    "inputs": [{"category": "note_title", "parameter": "note", "consumed": True}],
}


@pytest.mark.parametrize(
    "said",
    [
        CLICK | {"control_label": 4},
        CLICK | {"control_label": "[4]"},
        CLICK | {"control_label": ["4"]},
        CLICK | {"function": "click"},
        CLICK | {"function": "Click_Input"},
        CLICK | {"function": "click_input()"},
        CLICK | {"status": "Continue"},
        CLICK | {"args": {"button": "LEFT"}},
        CLICK | {"args": {"button": "left", "keys": None, "path": None}, "message": None},
        CLICK | {"args": None},
        CLICK | {"args": [{"button": "left"}]},
        [CLICK],
        {"action": CLICK},
        {"reply": [CLICK]},
    ],
)
def test_reads_an_actors_near_miss(said: object) -> None:
    assert parse_reply(json.dumps(said), ActorReply) == ActorReply.model_validate(CLICK)


@pytest.mark.parametrize(
    "said",
    [
        [PROPOSAL],
        PROPOSAL | {"parameter_sets": [{"note": "Ideas", "title": "Plans"}]},
        PROPOSAL | {"parameter_sets": {"note": "Ideas", "title": "Plans"}},
        PROPOSAL | {"parameter_sets": [[{"note": "Ideas"}, {"title": "Plans"}]]},
        PROPOSAL | {"parameter_sets": PROPOSAL["parameter_sets"][0]},  # type: ignore[index]
        PROPOSAL | {"outputs": None, "fresh": None},
        PROPOSAL | {"inputs": {"category": "note_title", "parameter": "note", "consumed": True}},
    ],
)
def test_reads_an_explorers_near_miss(said: object) -> None:
    reply = said if isinstance(said, list) else {"subtasks": [said], "categories": None}
    expected = ExplorerReply.model_validate({"subtasks": [PROPOSAL]})
    assert parse_reply(json.dumps(reply), ExplorerReply) == expected


def test_reads_parameter_values_that_are_numbers() -> None:
    said = {"subtasks": [PROPOSAL | {"parameter_sets": [{"note": 3, "title": True}]}]}
    (values,) = parse_reply(json.dumps(said), ExplorerReply).subtasks[0].parameter_sets
    assert [item.value for item in values] == ["3", "true"]


def test_reads_past_a_comma_too_many_but_leaves_texts_alone() -> None:
    said = 'Here it is:\n```json\n{"instruction": "Write \'a,]\' and \\", }\\".", "goal": "x",\n}\n```'
    assert parse_reply(said, SummarizerReply).instruction == "Write 'a,]' and \", }\"."


@pytest.mark.parametrize(
    "said",
    [
        CLICK | {"function": "tap"},
        CLICK | {"args": {"text": "typed"}},
        [CLICK, CLICK | {"control_label": "5"}],
        CLICK | {"status": None},
    ],
)
def test_guesses_nothing(said: object) -> None:
    with pytest.raises(ReplyInvalidError):
        parse_reply(json.dumps(said), ActorReply)


def test_says_what_a_fraction_is() -> None:
    with pytest.raises(ReplyInvalidError, match=r"path\.0\.x: .*fraction of the control.*0 to 1.*got 640"):
        parse_reply(json.dumps(CLICK | {"args": {"path": [{"x": 640, "y": 0.5}]}}), ActorReply)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["status", "args", "subtasks", "name", "value", "dependencies", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("reply_type", [ActorReply, ExplorerReply, DependencyJudgeReply])
@given(said=VALUES)
def test_never_fails_otherwise_than_by_validation(reply_type: type[BaseModel], said: object) -> None:
    read = read_near_miss(reply_type, said)
    try:
        reply = reply_type.model_validate(read)
    except (ValidationError, RecursionError):
        return
    assert reply_type.model_validate(reply.model_dump(mode="json")) == reply
