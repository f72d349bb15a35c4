"""The history says what an action changed, in a few words."""

from __future__ import annotations

from taskloom.environments.screen_words import describe_change
from taskloom.taskgraph.records.interaction import Control, Observation, Rectangle, Screenshot

PLACE = Rectangle(left=0, top=0, right=10, bottom=10)


def control(text: str, kind: str = "Button", **fields: object) -> Control:
    return Control.model_validate(
        {"label": "1", "text": text, "control_type": kind, "rectangle": PLACE, **fields}
    )


def screen(*controls: Control, picture: str = "a", **fields: object) -> Observation:
    return Observation.model_validate(
        {"screenshot": Screenshot(sha256=picture), "controls": controls, **fields}
    )


def test_values_states_and_what_came_and_went() -> None:
    before = screen(
        control("Title", "Edit"),
        control("Keep", "CheckBox", checked=False),
        control("Send", disabled=True),
        control("Old"),
    )
    after = screen(
        control("Title", "Edit", value="Plan"),
        control("Keep", "CheckBox", checked=True),
        control("Send"),
        *(control(f"New {number}") for number in range(6)),
    )
    assert describe_change(before, after) == (
        'Edit "Title" holds "Plan"; CheckBox "Keep" is on; Button "Send" can be used;'
        ' new: "New 0", "New 1", "New 2" and 3 more; gone: "Old"'
    )


def test_windows_and_addresses_come_first() -> None:
    before = screen(url="http://127.0.0.1/a", window_title="A", active_application="wiki")
    after = screen(url="http://127.0.0.1/b?c=1#d", window_title="B", active_application="wiki")
    assert describe_change(before, after) == 'the address is now /b?c=1#d; the window is now "B"'
    assert describe_change(before, screen(active_application="mail")).startswith("mail is in front")


def test_a_click_without_effect_is_told_so() -> None:
    assert describe_change(screen(), screen()) == "nothing changed on the screen"
    assert describe_change(screen(), screen(picture="b")) == "only the picture changed"
    renumbered = control("Same").model_copy(update={"label": "7"})
    assert describe_change(screen(control("Same")), screen(renumbered)) == "nothing changed on the screen"


def test_equal_controls_are_counted() -> None:
    assert describe_change(screen(control("Edit")), screen(control("Edit"), control("Edit"))) == 'new: "Edit"'
