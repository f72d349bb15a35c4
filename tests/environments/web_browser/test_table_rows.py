"""Equal controls in the rows of a table are told apart by what names their row."""

from __future__ import annotations

import pytest

from taskloom.resources.applications import ControlQuery
from taskloom.taskgraph.records.grounding import describe_control, find_control
from tests.environments.web_browser.conftest import Screen

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_control_in_a_row_has_the_name_of_the_row_as_its_parent_text(screen: Screen) -> None:
    await screen.open("""
      <table><tr><th>State</th><th>Name</th><th>Action</th></tr>
        <tr><td>running</td><td><a href="#mailer">mailer</a></td><td><ul><li><a href="#1">Stop</a></li></ul></td></tr>
        <tr><td>running</td><td><a href="#backup">backup</a></td><td><ul><li><a href="#2">Stop</a></li></ul></td></tr>
      </table>""")  # noqa: E501
    found = [
        find_control(ControlQuery(text="Stop", parent_text=name), screen.now.controls)
        for name in ("mailer", "backup")
    ]
    assert [control.parent_text for control in found if control] == ["mailer", "backup"]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].rectangle.top < found[1].rectangle.top


async def test_the_heading_of_a_row_names_it_before_a_link_does(screen: Screen) -> None:
    await screen.open(
        """
      <table><tr><th scope=row>Invoice 7</th><td><a href="#open">open</a></td><td><button>Pay</button></td></tr></table>"""  # noqa: E501
    )
    assert find_control(ControlQuery(text="Pay", parent_text="Invoice 7"), screen.now.controls) is not None
    assert {item.parent_text for item in screen.now.controls if item.text == "Pay"} == {"Invoice 7"}


async def test_controls_know_their_row_and_the_heading_above(screen: Screen) -> None:
    await screen.open(
        """<h2>Watches</h2>
      <table><tr><td><input type=checkbox aria-label=Pick></td><td>Library hours</td><td><a href=#>Edit</a></td></tr>
      <tr><td><input type=checkbox aria-label=Pick></td><td>Opening times</td><td><a href=#>Edit</a></td></tr></table>
      <div><div><h3>Tags</h3> <button>New</button></div><ul><li>Blue <button>Delete</button></li><li><a href=#>Red</a>
      <button>Delete</button></li></ul></div><section><h4>Aside</h4><button>Hide</button></section><button>Close</button>"""  # noqa: E501
    )
    told = [
        (item.text, item.row, item.section)
        for item in screen.controls
        if item.control_type not in ("Text", "DataItem")
    ]
    assert [item for item in told if item[0] in ("Pick", "Edit", "Delete")] == [
        ("Pick", "Library hours", "Watches"),
        ("Edit", "Library hours", "Watches"),
        ("Pick", "Opening times", "Watches"),
        ("Edit", "Opening times", "Watches"),
        ("Delete", "Blue", "Tags"),
        ("Delete", "Red", "Tags"),
    ]
    assert ("New", "", "Tags") in told and ("Hide", "", "Aside") in told
    assert ("Close", "", "Tags") in told, "a heading inside a section ends with it"


async def test_what_all_rows_say_names_none_of_them(screen: Screen) -> None:
    rows = "".join(
        f"<tr><td><button>Pause</button></td><td><a href=#kind>Text</a></td><td>{name} {tags}</td>"
        "<td>Not yet</td><td><a href=#edit>Edit</a></td></tr>"
        for name, tags in (("library.test/hours", ""), ("trains.test/plan", "<a href=#t>Travel</a>"))
    )
    await screen.open(f"<table><tr><th>Kind</th><th>Page</th></tr>{rows}</table>")
    told = [(item.text, item.row) for item in screen.controls if item.text in ("Pause", "Edit")]
    assert told == [
        ("Pause", "library.test/hours"),
        ("Edit", "library.test/hours"),
        ("Pause", "trains.test/plan"),
        ("Edit", "trains.test/plan"),
    ]


async def test_a_recorded_tick_is_not_made_at_another_row(screen: Screen) -> None:
    row = "<tr><td><input type=checkbox aria-label=Pick><td>{}</tr>"
    await screen.open("<table>" + row.format("Library hours") + row.format("Opening times") + "</table>")
    ticks = [item for item in screen.controls if item.control_type == "CheckBox"]
    recorded = describe_control(ticks[0], screen.now.controls)
    await screen.open("<table>" + row.format("Opening times") + row.format("Library hours") + "</table>")
    found = find_control(recorded, screen.now.controls)
    assert found is not None and found.row == "Library hours"
    await screen.open("<table>" + row.format("Opening times") + "</table>")
    assert find_control(recorded, screen.now.controls) is None


async def test_a_row_that_begins_with_a_date_has_the_name_that_tells_it_apart(screen: Screen) -> None:
    rows = "".join(
        f"<tr><td>2026-07-0{day}</td><td>{who}</td><td>{what}</td><td>{cost}</td><td><a"
        " href=#edit>edit</a></td></tr>"
        for day, who, what, cost in (
            (6, "Anna", "Boat hire", "75"),
            (6, "Clara", "Groceries", "54"),
            (3, "Anna", "Tickets", "9"),
        )
    )
    await screen.open(f"<table><tr><th>When?</th><th>Who?</th><th>What?</th></tr>{rows}</table>")
    told = [(item.row, item.parent_text) for item in screen.controls if item.text == "edit"]
    assert told == [(name, name) for name in ("Boat hire", "Groceries", "Tickets")]
    await screen.open("<table><tr><td>2026-07-06</td><td>75</td><td><a href=#edit>edit</a></td></tr></table>")
    assert {item.row for item in screen.controls if item.text == "edit"} == {"2026-07-06"}
