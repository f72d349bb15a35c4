from __future__ import annotations

import pytest

from taskloom.environments.aiming import InputLog, require_control, under_pointer
from taskloom.environments.errors import ActionInvalidError
from taskloom.taskgraph.records.interaction import (
    ClickInput,
    Control,
    DragInput,
    KeyboardInput,
    Rectangle,
    WaitInput,
    WheelMouseInput,
)


def control(label: str, text: str, box: tuple[int, int, int, int], **fields: str) -> Control:
    place = Rectangle(left=box[0], top=box[1], right=box[2], bottom=box[3])
    return Control(label=label, text=text, control_type="Button", rectangle=place, **fields)


OUTER = control("1", "Outer", (0, 0, 100, 100), application="wiki")
INNER = control("2", "", (10, 10, 50, 50), value="typed", application="wiki")
TWIN = control("3", "Outer", (200, 0, 300, 100))
CONTROLS = (OUTER, INNER, TWIN)


def test_events_say_what_was_done_to_what_and_where() -> None:
    log = InputLog()
    log.step = 1
    log.note(ClickInput(control_label="3", button="right"), TWIN, CONTROLS, "front")
    log.step = 2
    log.note(ClickInput(control_label="1", double=True), OUTER, CONTROLS, "front")
    log.note(KeyboardInput(keys="ab^s{ENTER}c"), None, CONTROLS, "front")
    log.note(WheelMouseInput(wheel_distance=-3), None, CONTROLS, "front")
    log.note(DragInput(control_label="1", path=((0, 0), (1, 0.5))), OUTER, CONTROLS, "front")
    log.note(WaitInput(), None, CONTROLS, "front")
    assert [(event.step, event.kind, event.text, event.application) for event in log.events] == [
        (1, "click", "right", "front"),
        (2, "click", "left double", "wiki"),
        (2, "text", "ab", "front"),
        (2, "key", "ctrl+s", "front"),
        (2, "key", "enter", "front"),
        (2, "text", "c", "front"),
        (2, "wheel", "-3", "front"),
        (2, "drag", "0.000,0.000 1.000,0.500", "wiki"),
    ]
    first = log.events[0].control
    assert first is not None and first.ordinal == 1, "equal controls are told apart"
    log.clear()
    assert not log.events and log.step == 0


def test_the_innermost_text_under_the_pointer_counts() -> None:
    assert under_pointer(CONTROLS, (20, 20)) == "typed"
    assert under_pointer(CONTROLS, (80, 80)) == "Outer"
    assert under_pointer(CONTROLS, (150, 50)) == ""


def test_an_unknown_label_is_refused_with_the_known_ones() -> None:
    assert require_control(CONTROLS, "2") is INNER
    with pytest.raises(ActionInvalidError, match=r"no control '9'.*1 to 3"):
        require_control(CONTROLS, "9")
    with pytest.raises(ActionInvalidError, match="none"):
        require_control((), "1")
