"""Tables and other large parts of files: whether they are there, and that all others are as they were."""

import pytest

from taskloom.evaluators_api.state.editing import undone
from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.operators import removed_otherwise
from taskloom.evaluators_api.state.reading import read
from taskloom.taskgraph.records.evidence import Evidence
from tests.evaluators_api.state.evidence import evidence
from tests.evaluators_api.test_state_checks import CONFIG, SHOP, ask

DROPPED = SHOP.partition('CREATE TABLE "sales"')[0]
MADE = SHOP + 'CREATE TABLE "visits"("id"); -- 0 rows\n'
EMPTIED = DROPPED + 'CREATE TABLE "sales"("region", "amount"); -- 0 rows\n'


def shop(text: str) -> Evidence:
    return evidence({"shop.db": text, "config.json": CONFIG})


@pytest.mark.parametrize(
    ("path", "part", "expected"),
    [
        ("shop.db", "sales", True),
        ("shop.db", "sale", False),
        ("shop.db", "", False),
        ("config.json", "editor/theme", True),
        ("config.json", "colours", False),
        ("missing.db", "sales", False),
    ],
)
def test_a_part_is_known_by_its_whole_name(path: str, part: str, expected: bool) -> None:
    assert ask(shop(SHOP), "check_part_exists", file_path=path, part=part) is expected


def test_a_dropped_table_can_be_put_back_and_emptied() -> None:
    start, end = shop(SHOP), shop(DROPPED)
    (effect,) = [item for item in effects(start, end, {}) if item.address == ("sales",)]
    restored = undone(start, end, effect)
    assert restored is not None
    assert read("shop.db", restored.files_by_path()["shop.db"].text or "")[1].at(("sales", "rows", "North"))
    *_, emptied = removed_otherwise(start, end, effect)
    tree = read("shop.db", emptied.evidence.files_by_path()["shop.db"].text or "")[1]
    rows, count = tree.at(("sales", "rows")), tree.at(("sales", "count"))
    assert rows is not None and not rows.children
    assert count is not None and count.value == "0"
