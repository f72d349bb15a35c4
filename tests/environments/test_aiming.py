"""What an action is aimed at, and what is refused instead of being done to something else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.environments.aiming import Aim, aim, control_at, refuse_stale
from taskloom.environments.errors import ActionInvalidError
from taskloom.taskgraph.records.interaction import (
    Action,
    ClickInput,
    Control,
    DragInput,
    KeyboardInput,
    MoveInput,
    Rectangle,
    WaitInput,
    WheelMouseInput,
)

SIZE = (400, 200)


def control(
    label: str, text: str, box: tuple[int, int, int, int], kind: str = "Button", row: str = ""
) -> Control:
    place = Rectangle(left=box[0], top=box[1], right=box[2], bottom=box[3])
    return Control(label=label, text=text, control_type=kind, rectangle=place, row=row)


LIST = control("1", "Pages", (0, 0, 200, 100), "List")
SAVE = control("2", "Save", (10, 10, 50, 30))
DELETE = control("3", "Delete", (60, 10, 110, 30))
ICON = control("4", "", (120, 10, 140, 30))
CONTROLS = (LIST, SAVE, DELETE, ICON)


def test_a_label_gets_its_point_and_a_point_its_label() -> None:
    named = aim(ClickInput(control_label="2"), CONTROLS, SIZE)
    assert named.target is SAVE and named.action == ClickInput(control_label="2", point=(30, 20))
    pointed = aim(ClickInput(point=(20, 15)), CONTROLS, SIZE)
    assert pointed.target is SAVE
    assert pointed.action == ClickInput(control_label="2", point=(20, 15), position=(0.25, 0.25))


@given(st.integers(0, 399), st.integers(0, 199))
def test_pointing_and_pointing_again_by_what_was_recorded_hits_the_same_control(x: int, y: int) -> None:
    first = aim(MoveInput(point=(x, y)), CONTROLS, SIZE)
    if first.target is None:
        assert first.action == MoveInput(point=(x, y))
        return
    again = aim(first.action.model_copy(update={"point": None}), CONTROLS, SIZE)
    assert again.target is first.target
    assert isinstance(again.action, MoveInput) and again.action.point is not None
    assert max(abs(again.action.point[0] - x), abs(again.action.point[1] - y)) <= 1


def test_a_covered_control_is_clicked_where_it_is_free() -> None:
    covered = SAVE.model_copy(update={"free_point": (12, 28)})
    assert aim(ClickInput(control_label="2"), (covered,), SIZE).action.point == (12, 28)  # type: ignore[union-attr]


def test_the_smallest_control_at_a_point_is_hit() -> None:
    assert control_at(CONTROLS, (20, 20)) is SAVE
    assert control_at(CONTROLS, (150, 90)) is LIST
    assert control_at(CONTROLS, (390, 190)) is None


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (ClickInput(control_label="9"), "no control '9'"),
        (
            ClickInput(control_label="2", control_text="Delete"),
            "label 2 is Button 'Save', not 'Delete'.*label 3",
        ),
        (ClickInput(control_label="2", control_text="Save as"), "not 'Save as'"),
        (ClickInput(), "neither a control nor a point"),
        (ClickInput(control_text="Delete"), "No control was chosen.*label 3"),
        (MoveInput(), "neither"),
        (DragInput(points=((1, 1),)), "at least two points"),
        (DragInput(control_label="2"), "at least two points"),
        (ClickInput(point=(400, 0)), "outside of the screen of 400 by 200"),
        (DragInput(points=((1, 1), (1, -1))), "outside"),
        (KeyboardInput(control_label="2", control_text="Delete", keys="x"), "not 'Delete'"),
    ],
)
def test_what_cannot_be_aimed_is_refused_with_what_to_do(action: Action, message: str) -> None:
    with pytest.raises(ActionInvalidError, match=message):
        aim(action, CONTROLS, SIZE)


@pytest.mark.parametrize("text", ["Save", "save…", "&Save", 'Save in row "x"', "Sa…", ""])
def test_the_same_name_in_other_writing_is_accepted(text: str) -> None:
    assert aim(ClickInput(control_label="2", control_text=text), CONTROLS, SIZE).target is SAVE


def test_a_control_without_a_text_may_be_called_anything() -> None:
    assert aim(ClickInput(control_label="4", control_text="gear icon"), CONTROLS, SIZE).target is ICON


def test_keys_and_the_wheel_need_no_control() -> None:
    for action in (KeyboardInput(keys="x"), WheelMouseInput(wheel_distance=-3), WaitInput()):
        assert aim(action, CONTROLS, SIZE).target is None


def test_a_drag_inside_a_control_is_kept_in_fractions_and_one_between_controls_by_both() -> None:
    inside = aim(DragInput(points=((20, 15), (40, 25))), CONTROLS, SIZE)
    assert inside.end is None and inside.action.path == ((0.25, 0.25), (0.75, 0.75))  # type: ignore[union-attr]
    across = aim(DragInput(points=((20, 15), (65, 20))), CONTROLS, SIZE)
    assert (across.target, across.end) == (SAVE, DELETE)
    named = aim(DragInput(control_label="2", end_label="3"), CONTROLS, SIZE)
    assert named.action.points == ((30, 20), (85, 20))  # type: ignore[union-attr]
    drawn = aim(DragInput(control_label="2", path=((0, 0), (1, 1))), CONTROLS, SIZE)
    assert drawn.action.points == ((10, 10), (49, 29))  # type: ignore[union-attr]


def test_a_control_that_moved_or_is_gone_is_named() -> None:
    tick = control("5", "Keep", (0, 0, 20, 20), "CheckBox", row="Library hours")
    moved = control("1", "Keep", (0, 40, 20, 60), "CheckBox", row="Library hours")
    other = control("1", "Keep", (0, 0, 20, 20), "CheckBox", row="Opening times")
    aimed = Aim(ClickInput(point=(10, 10)), tick)
    refuse_stale(aimed, (tick,))
    with pytest.raises(ActionInvalidError, match="'Keep' has moved"):
        refuse_stale(aimed, (other, moved))
    with pytest.raises(ActionInvalidError, match="'Keep' is gone"):
        refuse_stale(aimed, (other,))
    clock = control("1", "Pause 0:12", (0, 0, 20, 20))
    refuse_stale(Aim(ClickInput(), clock), (clock.model_copy(update={"text": "Pause 0:13"}),))
