"""Actions become inputs of a machine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.environments.aiming import Aim, aim
from taskloom.environments.errors import ActionInvalidError
from taskloom.environments.platforms.linux_desktop.environment import inputs_of
from taskloom.taskgraph.records.gestures import Action
from taskloom.taskgraph.records.interaction import (
    ClickInput,
    Control,
    DragInput,
    HoldInput,
    KeyboardInput,
    MoveInput,
    Rectangle,
    WaitInput,
    WheelMouseInput,
    escape_keys,
)

SIZE = (800, 600)


def field(focused: bool) -> Control:
    place = Rectangle(left=0, top=0, right=100, bottom=20)
    return Control(label="1", text="Name", control_type="Edit", rectangle=place, focused=focused)


def done(action: Action, focused: bool = False) -> list[dict[str, object]]:
    return inputs_of(aim(action, [field(focused)], SIZE), SIZE)


def test_every_gesture_can_be_made() -> None:
    assert [item["kind"] for item in done(ClickInput(control_label="1", triple=True, held=("ctrl",)))] == [
        "click"
    ]
    assert done(MoveInput(point=(3, 4))) == [{"kind": "move", "point": (3, 4)}]
    assert done(WheelMouseInput(wheel_distance=-2))[0]["point"] == (400, 300)
    assert done(HoldInput(keys="+a", seconds=0.5))[0]["seconds"] == 0.5
    assert done(DragInput(points=((1, 2), (3, 4))))[0]["points"] == ((1, 2), (3, 4))
    assert done(WaitInput(seconds=2)) == [{"kind": "wait", "seconds": 2.0}]


def test_keys_go_to_the_focus_and_click_first_what_has_none() -> None:
    assert [item["kind"] for item in done(KeyboardInput(control_label="1", keys="a^b"))] == ["click", "keys"]
    (keys,) = done(KeyboardInput(control_label="1", keys="a^b"), focused=True)
    assert keys["presses"] == [("a", ()), ("b", ("ctrl",))]


def test_keys_that_do_not_parse_are_refused() -> None:
    with pytest.raises(ActionInvalidError):
        inputs_of(Aim(KeyboardInput(keys="{NOSUCHKEY}")), SIZE)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30))
def test_text_arrives_sign_by_sign(text: str) -> None:
    (keys,) = inputs_of(Aim(KeyboardInput(keys=escape_keys(text))), SIZE)
    assert "".join(key for key, held in keys["presses"] if not held) == text
