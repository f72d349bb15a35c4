"""Recordings that go out are what was recorded, for the consumer's rules and for our own importer."""

from __future__ import annotations

import ast
import re

from hypothesis import given
from hypothesis import strategies as st

from taskloom.resources.applications import ControlQuery
from taskloom.taskgraph.records.gestures import GESTURES
from taskloom.taskgraph.records.interaction import (
    Action,
    ClickInput,
    DragInput,
    HoldInput,
    KeyboardInput,
    MoveInput,
    WaitInput,
    WheelMouseInput,
    escape_keys,
)
from taskloom.taskgraph.records.keys import read_keys
from taskloom.taskgraph.records.trajectory import TrajectoryStep
from taskloom.warehouse.exporting.exporting import ExportOptions
from taskloom.warehouse.exporting.recordings import (
    call_arguments,
    call_text,
    points_of,
    system_text,
    with_marks,
    without_marks,
)
from taskloom.warehouse.exports.agent_net import agent_net_code
from taskloom.warehouse.importing.episodes import DemonstratedAction, Picture
from taskloom.warehouse.importing.pyautogui_scripts import action_of_script
from tests.warehouse.sample_parts import trajectory

WIDTH, HEIGHT = 640, 480
POINTS = st.tuples(st.integers(0, WIDTH - 1), st.integers(0, HEIGHT - 1))
TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12)
CHORDS = st.sampled_from(
    ["^s", "^+t", "%{F4}", "{ENTER}", "{TAB 3}", "{INSERT}", "{APPS}", "{PGDN}", "+{HOME}"]
)
KEYS = st.lists(TEXTS.map(escape_keys) | CHORDS, min_size=1, max_size=4).map("".join)
PLACED: st.SearchStrategy[Action] = st.one_of(
    st.builds(
        lambda point, button, times, held: ClickInput(
            point=point, button=button, double=times == 2, triple=times == 3, held=held
        ),
        POINTS,
        st.sampled_from(["left", "right", "middle"]),
        st.integers(1, 3),
        st.sampled_from([(), ("ctrl",), ("ctrl", "shift"), ("alt",)]),
    ),
    st.builds(lambda point: MoveInput(point=point), POINTS),
    st.builds(
        lambda point, notches: WheelMouseInput(point=point, wheel_distance=notches),
        POINTS | st.none(),
        st.integers(1, 30) | st.integers(-30, -1),
    ),
    st.builds(lambda point, keys: KeyboardInput(point=point, keys=keys), POINTS | st.none(), KEYS),
    st.builds(lambda points: DragInput(points=tuple(points)), st.lists(POINTS, min_size=2, max_size=6)),
    st.builds(
        lambda keys, seconds: HoldInput(keys=keys, seconds=seconds),
        st.sampled_from(["w", "^a", "{SPACE}"]),
        st.integers(1, 5),
    ),
    st.builds(lambda seconds: WaitInput(seconds=seconds), st.integers(1, 5)),
)


def step_of(action: Action) -> TrajectoryStep:
    return (
        trajectory()
        .steps[0]
        .model_copy(
            update={"action": action, "target_rectangle": None, "target": ControlQuery(text="Save <image>")}
        )
    )


@given(PLACED)
def test_actions_come_back_from_agent_net_as_they_were(action: Action) -> None:
    step = step_of(action)
    code = agent_net_code(step, (WIDTH, HEIGHT))

    found = action_of_script(code, Picture(b"", WIDTH, HEIGHT), fractions=True)

    assert isinstance(found, DemonstratedAction), (code, found)
    again = step.model_copy(update={"action": found.action, "target_rectangle": found.rectangle})
    kept, dropped = [
        [point for number, point in enumerate(points) if not number or point != points[number - 1]]
        for points in (points_of(again), points_of(step))
    ]
    assert kept == dropped
    if isinstance(action, (KeyboardInput, HoldInput)):
        assert isinstance(found.action, type(action))
        assert read_keys(found.action.keys) == read_keys(action.keys)
        assert getattr(found.action, "seconds", 0) == getattr(action, "seconds", 0)
    elif not isinstance(action, DragInput):
        assert found.action == action.model_copy(
            update={"point": None} if "point" in type(action).model_fields else {}
        )


@given(PLACED)
def test_nothing_of_agent_net_needs_letters_that_pyautogui_lacks(action: Action) -> None:
    code = agent_net_code(step_of(action), (WIDTH, HEIGHT))

    assert code.isascii() and code.count("dragTo") <= 1
    ast.parse(code)


@given(st.lists(st.sampled_from(["<image>", "<video>", "<audio>", "<", ">", " ", "image", "audio", "é"])))
def test_marks_in_texts_are_none_for_the_trainer_and_come_back(parts: list[str]) -> None:
    text = "".join(parts)

    written = without_marks(text)

    assert not re.search("<(image|video|audio)>", written)
    assert with_marks(written) == text


@given(PLACED)
def test_calls_use_the_arguments_that_are_announced(action: Action) -> None:
    step = step_of(action)
    announced = dict(re.findall(r"(\w+)\(([^)]*)\)", system_text(ExportOptions())))
    assert set(announced) == {*GESTURES, "finish"}

    call = ast.parse(call_text(step, (WIDTH, HEIGHT), "absolute"), mode="eval").body

    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    used = [word.arg for word in call.keywords]
    assert set(used) <= set(announced[call.func.id].split(", "))
    if "control_text" in used:
        assert call_arguments(step, (WIDTH, HEIGHT), "absolute")["control_text"] == "Save <image>"
