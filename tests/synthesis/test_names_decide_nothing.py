"""What tables, columns and fields are called decides nothing, and no form of a value makes it noise."""

from __future__ import annotations

import json

import pytest

from taskloom.evaluators_api.state.account import find_side_effects
from taskloom.evaluators_api.state.allowances import allowances
from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.essential import divide
from taskloom.evaluators_api.state.formats import json_tree
from taskloom.evaluators_api.state.records import belonging, reference
from taskloom.synthesis.cross_verification.agreement import agreeing, results
from taskloom.taskgraph.records.effect import SideEffects
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.recordings import click, file, recording

PRICES = "old_price,new_price\n1,2\n3,4\n"
TABLES = ("orders", "orders_history", "sessions", "training_sessions", "log", "last_seen")


def appended(*rows: str) -> Trajectory:
    """Rows at the end of a table of prices; the first of them is what was asked for."""
    made = PRICES + "".join(f"{row}\n" for row in rows)
    done = click("Save", files=(file("Documents/prices.csv", made),))
    return recording(
        "sheets.add", {"row": rows[0]}, [done], start={"files": (file("Documents/prices.csv", PRICES),)}
    )


def account(right: list[Trajectory], judged: Trajectory) -> SideEffects:
    """What `judged` changed beyond what the `right` performances change."""
    seen = [
        (effects(item.initial_evidence, item.final_evidence, item.parameters), item.parameters)
        for item in right
    ]
    bound = [(allowances(seen), judged.parameters)]
    return find_side_effects(judged.initial_evidence, judged.final_evidence, bound)


def test_two_rows_are_two_whatever_the_columns_are_called() -> None:
    right = [appended("5,6"), appended("7,8")]
    assert account(right, appended("9,10")).total == 0
    assert account(right, appended("9,10", "11,12")).records_added == 1


def kept(tables: dict[str, tuple[str, ...]]) -> str:
    return "".join(
        f'CREATE TABLE "{name}"("id" PRIMARY KEY, "item"); -- {len(rows)} rows\n'
        + "".join(f'INSERT INTO "{name}" VALUES({row});\n' for row in rows)
        for name, rows in tables.items()
    )


def ordered(item: str, number: int, *, lost: str = "", more: str = "") -> Trajectory:
    """A row is added to `orders`; in another table one is lost, or there is one more."""
    before: dict[str, tuple[str, ...]] = dict.fromkeys(TABLES, ("2, 'B'", "1, 'A'"))
    after = before | {"orders": (f"{number}, '{item}'", *before["orders"])}
    if lost:
        after[lost] = after[lost][:-1]
    if more:
        after[more] = ("99, 'Z'", *after[more])
    path = ".applications/shop/shop.db"
    return recording(
        "shop.order",
        {"item": item},
        [click("Save", files=(file(path, kept(after)),))],
        start={"files": (file(path, kept(before)),)},
    )


@pytest.mark.parametrize("table", TABLES)
def test_rows_lost_and_added_count_in_every_table(table: str) -> None:
    right = [ordered("Desk", 3), ordered("Lamp", 3)]
    assert account(right, ordered("Chair", 3)).total == 0
    assert account(right, ordered("Chair", 3, lost=table)).records_lost == 1
    assert account(right, ordered("Chair", 3, more=table)).records_added == 1


@pytest.mark.parametrize("at", ["2026-11-05 10:30", "2026-11-05T10:30:00Z", "10:30:15", "1795402302000"])
def test_a_date_and_time_that_a_user_typed_is_work(at: str) -> None:
    def planned(time: str) -> Trajectory:
        path = ".applications/plans/plan.json"
        done = click("Save", files=(file(path, json.dumps({"title": "Walk", "due": time})),))
        start = file(path, json.dumps({"title": "Walk", "due": "2020-01-01 00:00"}))
        return recording("plans.move", {"due": time}, [done], start={"files": (start,)})

    one, other = planned(at), planned("2027-02-03 08:15")
    expected = {("file", ".applications/plans/plan.json", "changed", "due")}
    assert all(found == expected for found in results([one, other]).values())
    assert agreeing([one, other], 2) == [one, other]
    performances = [
        (effects(item.initial_evidence, item.final_evidence, item.parameters), item.parameters)
        for item in (one, other)
    ]
    assert [effect.after for effect in divide(performances)[0].essential] == [at]


@pytest.mark.parametrize("key", ["id", "code", "nummer", "z9"])
def test_records_refer_to_each_other_by_whatever_tells_them_apart(key: str) -> None:
    flows = json.dumps(
        [{key: "f1", "label": "Alarm"}, {key: "f2", "label": "Light"}, {key: "n1", "in": "f1", "label": "x"}]
    )
    tree = json_tree.parse(flows)
    assert [item.name for item in belonging(tree, {"label": "Alarm"})] == ["f1", "n1"]
    assert reference(tree, "f2", ["Light"]) == (key, "label", "Light")
    assert reference(tree, "Light", ["Light"]) is None
