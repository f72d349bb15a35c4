"""What an actor's reply means as an action, by labels and by points in three kinds of coordinates."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from taskloom.prompts.actor_actions import action_of_reply
from taskloom.prompts.replies import ActorReply
from taskloom.taskgraph.records.gestures import GESTURES, Coordinates
from taskloom.taskgraph.records.interaction import (
    ClickInput,
    DragInput,
    HoldInput,
    KeyboardInput,
    WheelMouseInput,
)


def reply(function: str, label: str = "", text: str = "", **arguments: object) -> ActorReply:
    return ActorReply.model_validate(
        {
            "status": "CONTINUE",
            "thought": "The button is there, so I use it.",
            "function": function,
            "control_label": label,
            "control_text": text,
            "args": arguments,
        }
    )


@pytest.mark.parametrize(
    ("coordinates", "x", "y"), [("pixels", 320, 200), ("fractions", 0.25, 0.25), ("thousandths", 250, 250)]
)
def test_points_are_read_in_the_coordinates_asked_for(coordinates: Coordinates, x: float, y: float) -> None:
    said = reply("click_input", points=[{"x": x, "y": y}], triple=True, held=["shift"])
    wanted = ClickInput(point=(320, 200), triple=True, held=("shift",))
    assert action_of_reply(said, coordinates, (1280, 800)) == wanted


def test_points_count_only_where_they_were_asked_for_and_labels_come_first() -> None:
    said = reply("click_input", points=[{"x": 1, "y": 1}])
    assert action_of_reply(said) == ClickInput()
    both = reply("click_input", "5", "Save", points=[{"x": 1, "y": 1}])
    assert action_of_reply(both, "pixels") == ClickInput(control_label="5", control_text="Save")


def test_every_gesture_of_the_table_can_be_asked_for() -> None:
    for name in GESTURES:
        said = reply(name, "5", "Save", keys="^a", path=[{"x": 0, "y": 0}, {"x": 1, "y": 1}])
        action = action_of_reply(said)
        assert action is not None and action.operation == name
    assert action_of_reply(reply("drag_input", "5", end_label="6")) == DragInput(
        control_label="5", end_label="6"
    )
    assert action_of_reply(reply("hold_input", keys="a", seconds=2)) == HoldInput(keys="a", seconds=2)
    assert action_of_reply(reply("wheel_mouse_input", wheel_dist=-2)) == WheelMouseInput(wheel_distance=-2)
    assert action_of_reply(reply("keyboard_input", "5", keys="x")) == KeyboardInput(
        control_label="5", keys="x"
    )


def test_what_lacks_what_it_needs_is_no_action() -> None:
    assert action_of_reply(reply("keyboard_input")) is None
    assert action_of_reply(reply("")) is None
    with pytest.raises(ValidationError, match="no function 'fly'; known: click_input, move_input"):
        reply("fly")


@pytest.mark.parametrize("thought", ["", "  ", "click_input", "Step 2 of 6: click_input", "Step 3"])
def test_an_action_without_a_reason_is_refused(thought: str) -> None:
    with pytest.raises(ValidationError, match="say what is seen and why this action follows"):
        ActorReply(status="CONTINUE", thought=thought, function="click_input", control_label="5")
    assert ActorReply(status="FINISH").thought == ""
    seen = ActorReply(status="CONTINUE", observation="A form is open.", function="wait")
    assert seen.thought == "A form is open."
