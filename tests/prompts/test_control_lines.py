"""One line per control, without what is empty, and with what tells equal controls apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from taskloom.prompts.rendering import control_lines
from taskloom.taskgraph.records.interaction import Control, Rectangle


def control(label: str, text: str, kind: str = "Button", **fields: object) -> Control:
    place = Rectangle(left=0, top=0, right=9, bottom=9)
    return Control.model_validate(
        {"label": label, "text": text, "control_type": kind, "rectangle": place, **fields}
    )


def test_what_is_empty_is_not_written_and_what_is_set_is() -> None:
    lines = control_lines(
        [
            control("1", "Save"),
            control("2", "Title", "Edit", value="Plan", focused=True),
            control("3", "Keep", "CheckBox", checked=False, disabled=True),
            control("4", "Just words", "Text", section="Notes"),
            control("5", "", "Custom"),
        ]
    )
    assert lines.splitlines() == [
        '[1] Button "Save"',
        '[2] Edit "Title" = "Plan" focused',
        '[3] CheckBox "Keep" off disabled',
        '[4] "Just words"',
        "[5] Custom",
    ]


def test_equal_controls_say_where_they_stand() -> None:
    lines = control_lines(
        [
            control("1", "Edit", "Hyperlink", row="Library hours"),
            control("2", "Add", section="Tags"),
            control("3", "Add", section="Notes"),
            control("4", "OK", parent_type="Dialog", parent_text="Rename"),
            control("5", "OK", parent_type="Dialog", parent_text="Delete"),
            control("6", "Alone", section="Notes", parent_text="Form"),
        ]
    )
    assert lines.splitlines() == [
        '[1] Hyperlink "Edit" in row "Library hours"',
        '[2] Button "Add" under "Tags"',
        '[3] Button "Add" under "Notes"',
        '[4] Button "OK" in Dialog "Rename"',
        '[5] Button "OK" in Dialog "Delete"',
        '[6] Button "Alone"',
    ]


def test_mute_containers_are_left_out_and_the_task_bar_is_one_line() -> None:
    lines = control_lines(
        [
            control("1", "", "List"),
            control("2", "", "DataItem"),
            control("3", "Back", "TaskBarButton"),
            control("4", "Wiki", "TaskBarButton", checked=True),
        ]
    )
    assert lines == 'TaskBarButton: [3] "Back", [4] "Wiki" in front'


def test_long_texts_are_cut_and_say_so() -> None:
    line = control_lines([control("1", "x" * 500, "Edit", value="y\n" * 500)])
    assert '"' + "x" * 120 + '…" (500 characters)' in line and "(1000 characters)" in line
    assert len(line) < 1100 and "\n" not in line


@given(st.lists(st.text(max_size=300), max_size=5))
def test_texts_cannot_break_the_list(texts: list[str]) -> None:
    lines = control_lines([control(str(number), text) for number, text in enumerate(texts)])
    assert len(lines.split("\n")) == max(1, len(texts))
