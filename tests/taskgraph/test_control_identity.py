"""A recorded control is found again by what it is and where it belongs, never by its order alone."""

from __future__ import annotations

from taskloom.resources.applications import ControlQuery
from taskloom.taskgraph.records.grounding import describe_control, find_control
from taskloom.taskgraph.records.interaction import Control, Rectangle


def tick(
    row: str, top: int, *, section: str = "", text: str = "Mute", label: str = "", kind: str = "CheckBox"
) -> Control:
    place = Rectangle(left=0, top=top, right=20, bottom=top + 20)
    return Control(
        label=label or str(top), text=text, control_type=kind, row=row, section=section, rectangle=place
    )


def test_a_tick_at_another_row_is_refused() -> None:
    seen = (tick("Library hours", 0), tick("Opening times", 30))
    recorded = describe_control(seen[0], seen)
    assert find_control(recorded, (tick("Opening times", 0), tick("Library hours", 30))) == tick(
        "Library hours", 30
    )
    assert find_control(recorded, (tick("Opening times", 0), tick("Bus times", 30))) is None
    assert find_control(recorded, (tick("Opening times", 0),)) is None


def test_a_control_outside_of_rows_is_not_found_inside_one() -> None:
    alone = tick("", 0)
    recorded = describe_control(alone, (alone,))
    assert find_control(recorded, (tick("Library hours", 0),)) is None
    assert find_control(recorded, (tick("Library hours", 0), tick("", 30))) == tick("", 30)


def test_the_section_decides_between_equals_only() -> None:
    seen = (tick("", 0, section="Mail"), tick("", 30, section="Phone"))
    recorded = describe_control(seen[1], seen)
    assert find_control(recorded, (tick("", 0, section="Phone"), tick("", 30, section="Mail"))) == tick(
        "", 0, section="Phone"
    )
    assert find_control(recorded, (tick("", 0, section="Post"), tick("", 30, section="Mail"))) is None
    assert find_control(recorded, (tick("", 0, section="Renamed"),)) == tick("", 0, section="Renamed")


def test_an_order_among_equals_means_nothing_when_there_are_more_or_fewer() -> None:
    seen = tuple(tick("", top) for top in (0, 30, 60))
    recorded = describe_control(seen[1], seen)
    assert (recorded.ordinal, recorded.equals) == (1, 3)
    assert find_control(recorded, seen) == seen[1]
    assert find_control(recorded, seen[:2]) is None
    assert find_control(recorded, (*seen, tick("", 90))) is None


def test_an_unnamed_control_is_not_any_control() -> None:
    seen = (tick("", 0, text=""), tick("", 30, text="Named"))
    recorded = describe_control(seen[0], seen)
    assert find_control(recorded, (tick("", 0, text="Named"),)) is None
    assert find_control(recorded, (tick("", 0, text="Named"), tick("", 30, text=""))) == tick("", 30, text="")


def test_a_curated_description_still_goes_by_order() -> None:
    curated = ControlQuery(text="Mute", ordinal=-1)
    assert find_control(curated, (tick("a", 0), tick("b", 30))) == tick("b", 30)


def test_what_stood_in_a_dialog_is_not_sought_on_the_page_behind_it() -> None:
    def field(parent: str, title: str = "", label: str = "1") -> Control:
        place = Rectangle(left=0, top=0, right=20, bottom=20)
        return Control(
            label=label,
            text="",
            control_type="Edit",
            parent_text=title,
            parent_type=parent,
            rectangle=place,
        )

    asked = field("Dialog", "Save as")
    recorded = describe_control(asked, (asked,))
    assert find_control(recorded, (field("Region"),)) is None
    assert find_control(recorded, (field("Dialog", "Save a copy as"),)) is not None
    editor = describe_control(field("Region"), (field("Region"),))
    assert find_control(editor, (asked,)) is None
    assert find_control(editor, (field("Group"),)) is not None


def test_the_button_of_another_row_is_not_the_one_that_is_gone() -> None:
    def start(process: str, top: int) -> Control:
        place = Rectangle(left=0, top=top, right=20, bottom=top + 20)
        return Control(
            label=str(top), text="Start", control_type="Hyperlink", parent_text=process, rectangle=place
        )

    curated = ControlQuery(text="Start", parent_text="export")
    others = (start("count", 0), start("backup", 30))
    assert find_control(curated, (*others, start("export", 60))) == start("export", 60)
    assert find_control(curated, others) is None
    assert find_control(curated, others[:1]) == others[0]


def test_a_count_behind_the_name_makes_no_difference_where_nothing_bears_the_name_itself() -> None:
    drafts, more, plain = (
        tick("", top, text=text, kind="TreeItem")
        for top, text in ((0, "Drafts (2)"), (30, "Drafts (3)"), (60, "Drafts"))
    )
    for recorded in (ControlQuery(text="Drafts"), describe_control(more, (more,))):
        assert find_control(recorded, (drafts,)) == drafts
    assert find_control(ControlQuery(text="Drafts"), (drafts, more)) is None
    assert find_control(ControlQuery(text="Drafts"), (drafts, plain)) == plain
    assert (
        find_control(ControlQuery(text="Drafts"), (tick("", 0, text="Drafts of 2026", kind="TreeItem"),))
        is None
    )
    copy = tick("", 0, text="report (2)", kind="Hyperlink")
    assert find_control(ControlQuery(text="report (1)"), (copy,)) is None, "that is another file"
