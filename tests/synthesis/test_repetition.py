"""An action that changes nothing is not repeated without end."""

from __future__ import annotations

import pytest

from taskloom.environments.screen_words import NOTHING_CHANGED, ONLY_THE_PICTURE
from taskloom.synthesis.trajectories.trajectories import describe_repeats, ineffective_repeats, must_be_seen
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import (
    Action,
    ClickInput,
    Control,
    KeyboardInput,
    Rectangle,
    Screenshot,
    WaitInput,
    WheelMouseInput,
)
from taskloom.taskgraph.records.trajectory import TrajectoryStep


def step(
    number: int,
    action: Action,
    change: str = NOTHING_CHANGED,
    problem: str = "",
    controls: tuple[Control, ...] = (),
) -> TrajectoryStep:
    return TrajectoryStep(
        step=number,
        observation_screenshot=Screenshot(sha256="0" * 64),
        observation_controls=controls,
        action=action,
        change=change,
        problem=problem,
        evidence=Evidence(step=number),
    )


def test_counts_equal_actions_without_effect_at_the_end() -> None:
    click, keys = ClickInput(control_label="4"), KeyboardInput(keys="{DOWN}")
    assert ineffective_repeats([]) == 0
    assert ineffective_repeats([step(1, click), step(2, keys), step(3, keys), step(4, keys)]) == 3
    assert ineffective_repeats([step(1, keys), step(2, keys, change="'Saved' appeared")]) == 0
    assert ineffective_repeats([step(1, WaitInput()), step(2, WaitInput())]) == 0


def test_a_refused_action_counts_and_is_told_with_its_reason() -> None:
    steps = [step(number, ClickInput(control_label="4"), "", "no such control") for number in (1, 2, 3)]
    assert ineffective_repeats(steps) == 3
    assert describe_repeats(steps, 3) == "click_input was done 3 times with the same result: no such control"


def test_a_label_given_anew_is_the_same_action() -> None:
    assert (
        ineffective_repeats([step(1, ClickInput(control_label="4")), step(2, ClickInput(control_label="9"))])
        == 2
    )


def control(control_type: str, text: str = "") -> Control:
    place = Rectangle(left=0, top=0, right=10, bottom=10)
    return Control(label="1", text=text, control_type=control_type, rectangle=place)


@pytest.mark.parametrize(
    ("history", "controls", "seen"),
    [
        ([], [control("Edit", "Name")], True),
        ([step(1, ClickInput(control_label="4"), 'new: "Name"')], [control("Button", "Save")], False),
        ([step(1, KeyboardInput(keys="a"), 'Edit "Name" holds "a"')], [control("Edit")], False),
        ([step(1, KeyboardInput(keys="a"), ONLY_THE_PICTURE)], [], True),
        ([step(1, ClickInput(control_label="4"))], [], True),
        ([step(1, ClickInput(control_label="4"), "", "no such control")], [], True),
        ([step(1, WaitInput(), 'new: "Saved"')], [], True),
        ([step(1, WheelMouseInput(wheel_distance=-3), 'gone: "Name"')], [], True),
        ([step(1, ClickInput(control_label="4"), 'new: "Name"')], [control("Canvas", "Board")], True),
        ([step(1, ClickInput(control_label="4"), 'new: "Name"')], [control("Button")], True),
    ],
)
def test_the_screen_is_shown_where_the_list_of_controls_does_not_tell(
    history: list[TrajectoryStep], controls: list[Control], seen: bool
) -> None:
    assert must_be_seen(controls, history) is seen


def test_what_has_no_name_is_shown_when_it_comes_and_not_again() -> None:
    shown = step(1, ClickInput(control_label="4"), 'new: "Name"', controls=(control("Button"),))
    assert not must_be_seen([control("Button")], [shown])
    assert must_be_seen([control("Hyperlink")], [shown])
    moved = control("Button").model_copy(update={"rectangle": Rectangle(left=9, top=0, right=19, bottom=10)})
    assert must_be_seen([control("Button"), moved], [shown])
    board = step(1, ClickInput(control_label="4"), 'new: "Name"', controls=(control("Canvas"),))
    assert must_be_seen([control("Canvas")], [board])
