"""All rows of a table on the screen, on whatever page they are shown."""

from __future__ import annotations

import pytest

from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Control, Rectangle
from tests.evaluators_api.test_state_checks import ask
from tests.synthesis.recordings import file

DATABASE = ".applications/desk/shop.db"
SHOP = (
    'CREATE TABLE "orders"("id" PRIMARY KEY, "item", "amount", "note"); -- 2 rows\n'
    "INSERT INTO \"orders\" VALUES(1, 'Lamp', 24.5, '');\n"
    "INSERT INTO \"orders\" VALUES(2, 'Desk', 240.0, '');\n"
    'CREATE TABLE "empty"("id"); -- 0 rows\n'
)


def shown(*rows: str) -> Evidence:
    """A screen with rows such as "1|Lamp|24.5", each called by its first text."""
    place = Rectangle(left=0, top=0, right=9, bottom=9)
    controls = [
        Control(label=f"{row}{number}", text=text, control_type="DataItem", row=row, rectangle=place)
        for row, *texts in (item.split("|") for item in rows)
        for number, text in enumerate([*texts, "Edit"])
    ]
    return Evidence(step=1, files=(file(DATABASE, SHOP),), controls=tuple(controls))


@pytest.mark.parametrize(
    ("rows", "part", "expected"),
    [
        (("1|Lamp|24.5", "2|Desk|240"), "orders", True),
        (("2|Desk|240.0", "1|Lamp|24.50", "3|Chair|1"), "orders", True),
        (("1|Lamp|24.5",), "orders", False),
        (("1|Lamp|24.5", "2|Desk|204"), "orders", False),
        (("1|Lamp|240", "2|Desk|24.5"), "orders", False),
        (("1|Desk|24.5", "2|Lamp|240"), "orders", False),
        (("1|Lamp|24.5", "2|Desk|240"), "empty", False),
        (("1|Lamp|24.5", "2|Desk|240"), "order", False),
        (("1|Lamp|24.5", "2|Desk|240"), "", False),
        ((), "orders", False),
    ],
)
def test_every_record_is_a_row_with_all_of_its_values(
    rows: tuple[str, ...], part: str, expected: bool
) -> None:
    assert ask(shown(*rows), "check_records_shown", file_path=DATABASE, part=part) is expected


def test_records_of_a_file_that_is_not_there_are_not_shown() -> None:
    assert not ask(shown("1|Lamp|24.5"), "check_records_shown", file_path="Documents/none.db", part="orders")
