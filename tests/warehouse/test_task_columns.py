from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from benchmarks.task_columns import write_task_columns, write_tasks
from benchmarks.warehouse import synthetic
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import RowInvalidError
from taskloom.warehouse.queries import named_query
from taskloom.warehouse.schema import TABLE_NAMED
from taskloom.warehouse.store import Warehouse
from tests.warehouse.sample_parts import bare_tasks
from tests.warehouse.samples import records

ROWS: list[dict[str, Any]] = next(synthetic(200))


def table(rows: list[dict[str, object]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=TABLE_NAMED["tasks"].arrow)


def test_columns_are_stored_once_in_one_commit(warehouse: Warehouse) -> None:
    assert write_task_columns(warehouse, [table(ROWS[:150]), table(ROWS[100:])]) == 250
    assert warehouse.query("SELECT count(*) FROM tasks").scalar() == 200
    edges = sum(len(row["edges"]) for row in ROWS)
    assert warehouse.query("SELECT count(*) FROM task_edges").scalar() == edges


def test_synthetic_tasks_are_read_as_tasks(warehouse: Warehouse) -> None:
    write_task_columns(warehouse, [table(ROWS)])
    tasks = list(warehouse.read(Task))
    assert {task.task_id for task in tasks} == {row["task_id"] for row in ROWS}
    for task in tasks:
        measured = task.complexity
        assert (measured.nodes, measured.edges) == (len(task.graph.nodes), len(task.graph.edges))
        assert measured.components == measured.nodes - measured.edges


def test_an_iterator_of_tasks_is_stored(warehouse: Warehouse) -> None:
    task = next(item for item in records() if isinstance(item, Task))

    assert (
        write_tasks(warehouse, (task.model_copy(update={"task_id": f"t{number}"}) for number in range(30)))
        == 30
    )
    assert warehouse.count(Task) == 30


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"task_id": ""}, "task_id is empty"),
        ({"dependency_level": "heavy"}, "dependency_level is not a level"),
        ({"branch_level": None}, "branch_level is not a level"),
        ({"node_count": 99}, "node_count"),
        (
            {"edges": [{"producer": "x", "consumer": "y", "resource": {"category": "a", "kind": "file"}}]},
            "not a node",
        ),
        ({"task_id": "task-1"}, "twice"),
    ],
)
def test_a_row_that_breaks_a_rule_stops_everything(
    warehouse: Warehouse, change: dict[str, object], rule: str
) -> None:
    bad = [*ROWS[:3], {**ROWS[3], **change}]

    with pytest.raises(RowInvalidError, match=rule):
        write_task_columns(warehouse, [table(ROWS[10:20]), table(bad)])

    assert warehouse.query("SELECT count(*) FROM tasks").scalar() == 0


def test_unknown_columns_and_wrong_types_are_refused(warehouse: Warehouse) -> None:
    with pytest.raises(RowInvalidError, match="no column surprise"):
        write_task_columns(warehouse, [pa.table({"task_id": ["a"], "surprise": [1]})])
    with pytest.raises(RowInvalidError, match="node_count"):
        write_task_columns(warehouse, [pa.table({"task_id": ["a"], "node_count": ["many"]})])


def test_the_applications_of_a_task_follow_from_its_nodes(warehouse: Warehouse) -> None:
    given = bare_tasks("bare").to_pylist()
    write_task_columns(warehouse, [table([{**given[0], "applications": ["made up"]}])])
    warehouse.write([item for item in records() if isinstance(item, Task)])

    rows = warehouse.query("SELECT task_id, applications FROM tasks ORDER BY 1").as_dicts()
    assert [row["applications"] for row in rows] == [["elsewhere"], ["notes", "sheets"]]


def test_links_and_words_are_prepared_as_the_rows_say(warehouse: Warehouse) -> None:
    """Counted here from nodes and edges, row by row; what a row claims itself is not believed."""
    claimed = {
        "links": [{"written_in": "x", "resource_category": "y", "read_in": "z", "times": 9}],
        "words": "x",
    }
    write_task_columns(warehouse, [table([{**row, **claimed, "intent": "Plan A  plan"} for row in ROWS])])

    found: Counter[tuple[str, str, str]] = Counter()
    tasks: Counter[tuple[str, str, str]] = Counter()
    for row in ROWS:
        used = {node["instance_id"]: node["application"] for node in row["nodes"]}
        own = [
            (used[edge["producer"]], edge["resource"]["category"], used[edge["consumer"]])
            for edge in row["edges"]
        ]
        found.update(own)
        tasks.update(set(own))
    query = named_query("links")
    counted = warehouse.query(query.sql, query.bind({"limit": "1000"})).rows()
    assert {row[:3]: row[3:] for row in counted} == {link: (found[link], tasks[link]) for link in found}
    stored = warehouse.query("SELECT task_id, words FROM tasks").rows()
    texts = {row["task_id"]: f"{row['instruction']} plan a " for row in ROWS}
    assert {name: set(str(words).split()) for name, words in stored} == {
        name: set(text.split()) for name, text in texts.items()
    }


def test_what_is_prepared_follows_a_task_that_is_exchanged(warehouse: Warehouse) -> None:
    task = next(item for item in records() if isinstance(item, Task))
    warehouse.write([task])
    warehouse.write([task.model_copy(update={"instruction": "Something ELSE", "intent": ""})], replace=True)

    (row,) = warehouse.query("SELECT words, links[1].read_in AS read_in FROM tasks").as_dicts()
    assert str(row["words"]).split() == ["else", "something"] and row["read_in"] == "sheets"
