"""Typing into a field is preceded by a click on it, unless it has the focus."""

from __future__ import annotations

from taskloom.environments.agent import Decision
from taskloom.environments.episode import focusing_decision, retarget_typing
from taskloom.taskgraph.records.interaction import (
    ClickInput,
    Control,
    KeyboardInput,
    Observation,
    Rectangle,
    Screenshot,
)


def _screen(*, focused: bool = False, control_type: str = "Edit", label: str = "7") -> Observation:
    place = Rectangle(left=0, top=0, right=100, bottom=20)
    return Observation(
        screenshot=Screenshot.of(b"screen"),
        screen_size=(1280, 800),
        controls=(
            Control(label="1", text="Save", control_type="Button", rectangle=place),
            Control(label=label, text="Title", control_type=control_type, rectangle=place, focused=focused),
        ),
        window_title="Notes",
        active_application="notes",
    )


TYPING = Decision(
    status="continue",
    description="A form.",
    thought="The title goes in.",
    action=KeyboardInput(control_label="7", keys="Plans"),
)


def test_a_field_without_the_focus_is_clicked_first() -> None:
    found = focusing_decision(TYPING, _screen())
    assert found is not None
    assert found.action == ClickInput(control_label="7")
    assert not found.thought and not found.description, "the click is no decision of the agent"


def test_nothing_is_added_where_the_focus_is_there_or_nothing_is_typed_into_a_field() -> None:
    assert focusing_decision(TYPING, _screen(focused=True)) is None
    assert focusing_decision(TYPING, _screen(control_type="Canvas")) is None
    for action in (
        KeyboardInput(keys="^s"),
        ClickInput(control_label="7"),
        KeyboardInput(control_label="99", keys="x"),
    ):
        assert focusing_decision(TYPING.model_copy(update={"action": action}), _screen()) is None


def test_the_field_is_found_again_on_the_next_screen() -> None:
    again = retarget_typing(TYPING, _screen(), _screen(focused=True, label="12"))
    assert again.action == KeyboardInput(control_label="12", keys="Plans")
    gone = retarget_typing(TYPING, _screen(), _screen(control_type="Canvas"))
    assert gone.action == KeyboardInput(keys="Plans")
    assert again.thought == TYPING.thought
