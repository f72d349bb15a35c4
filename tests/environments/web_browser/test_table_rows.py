"""Equal controls in the rows of a table are told apart by what names their row."""

from __future__ import annotations

import pytest

from resources.applications import ControlQuery
from taskgraph.records.grounding import find_control
from tests.environments.web_browser.conftest import Screen

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_control_in_a_row_has_the_name_of_the_row_as_its_parent_text(screen: Screen) -> None:
    await screen.open("""
      <table><tr><th>State</th><th>Name</th><th>Action</th></tr>
        <tr><td>running</td><td><a href="#mailer">mailer</a></td><td><ul><li><a href="#1">Stop</a></li></ul></td></tr>
        <tr><td>running</td><td><a href="#backup">backup</a></td><td><ul><li><a href="#2">Stop</a></li></ul></td></tr>
      </table>""")
    found = [
        find_control(ControlQuery(text="Stop", parent_text=name), screen.now.controls)
        for name in ("mailer", "backup")
    ]
    assert [control.parent_text for control in found if control] == ["mailer", "backup"]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].rectangle.top < found[1].rectangle.top


async def test_the_heading_of_a_row_names_it_before_a_link_does(screen: Screen) -> None:
    await screen.open("""
      <table><tr><th scope=row>Invoice 7</th><td><a href="#open">open</a></td><td><button>Pay</button></td></tr></table>""")
    assert find_control(ControlQuery(text="Pay", parent_text="Invoice 7"), screen.now.controls) is not None
    assert {item.parent_text for item in screen.now.controls if item.text == "Pay"} == {"Invoice 7"}
