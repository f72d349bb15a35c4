from __future__ import annotations

from pathlib import Path

import pytest

from taskloom.taskgraph.records.task import OrderFact, Rejection, Task
from taskloom.warehouse.errors import QueryFailedError, UnknownQueryError
from taskloom.warehouse.queries import named_queries, named_query
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.views import views
from tests.warehouse import foreign
from tests.warehouse.foreign import run_import


@pytest.mark.parametrize("name", named_queries())
def test_every_named_query_runs_and_says_what_it_answers(sampled: Warehouse, name: str) -> None:
    query = named_query(name)
    given = {item.name: "task-1" for item in query.parameters if item.default is None}

    answer = sampled.query(query.sql, query.bind(given))

    assert answer.columns
    assert query.description.endswith(".")
    assert all(f"${item.name}" in query.sql for item in query.parameters)


def test_the_task_query_shows_what_each_subtask_waits_for(sampled: Warehouse) -> None:
    query = named_query("task")

    rows = sampled.query(query.sql, query.bind({"id": "task-1"})).as_dicts()

    assert [row["waits_for"] for row in rows] == [[], [1]]


def test_effects_are_asked_for_by_subtask_and_area(sampled: Warehouse) -> None:
    query = named_query("effects")

    lasting = sampled.query(query.sql, query.bind({"subtask": "notes.create"})).as_dicts()
    everything = sampled.query(query.sql, query.bind({"area": "any"})).as_dicts()

    assert [(row["necessity"], row["container"], row["after"]) for row in lasting] == [
        ("essential", "{csv_path}", "a,b\n1,2\n"),
        ("incidental", ".applications/notes/recent.json", "{csv_path}"),
    ]
    assert [(row["subtask_id"], row["necessity"]) for row in everything if row["area"] == "clipboard"] == [
        ("sheets.chart", "not compared")
    ]
    assert any(row["area"] == "screen" for row in everything)


def test_orders_that_never_worked_come_first(tmp_path: Path) -> None:
    def fact(number: int, first: str, second: str, works: bool) -> OrderFact:
        message = "" if works else "a dialog was open"
        return OrderFact(
            fact_id=str(number), application="a", first=first, second=second, works=works, message=message
        )

    query = named_query("orders")
    with Warehouse(tmp_path / "warehouse") as written:
        written.write(
            [fact(1, "a.x", "a.y", True), fact(2, "a.x", "a.y", False), fact(3, "a.y", "a.x", False)]
        )
        rows = written.query(query.sql, query.bind({"application": "a"})).as_dicts()
        others = written.query(query.sql, query.bind({"application": "b"})).as_dicts()
    assert others == []
    assert [(row["first"], row["worked"], row["failed"], row["message"]) for row in rows] == [
        ("a.y", 0, 1, "a dialog was open"),
        ("a.x", 1, 1, "a dialog was open"),
    ]


def test_an_unknown_query_names_the_nearest() -> None:
    with pytest.raises(UnknownQueryError, match="Did you mean 'funnel'"):
        named_query("funel")


def test_unknown_and_missing_parameters_are_refused() -> None:
    with pytest.raises(QueryFailedError, match="no parameter 'dependancy'"):
        named_query("tasks").bind({"dependancy": "hard"})
    with pytest.raises(QueryFailedError, match="--param id=VALUE"):
        named_query("task").bind({})


def test_a_parameter_value_is_never_read_as_sql(sampled: Warehouse) -> None:
    query = named_query("tasks")

    assert sampled.query(query.sql, query.bind({"application": "x') OR true --"})).row_count == 0


@pytest.mark.parametrize("view", views(), ids=lambda view: view.name)
def test_every_view_explains_exactly_its_columns(sampled: Warehouse, view: object) -> None:
    from taskloom.warehouse.views import View

    assert isinstance(view, View)
    answer = sampled.query(f"SELECT * FROM {view.name}")

    assert set(answer.columns) == set(view.columns)


def test_every_column_of_the_warehouse_has_a_comment(sampled: Warehouse) -> None:
    bare = sampled.query("SELECT table_name, column_name FROM data_model WHERE coalesce(comment, '') = ''")

    assert bare.as_dicts() == []
    native = sampled.query(
        "SELECT count(*) FROM duckdb_columns() WHERE table_name = 'tasks' AND comment IS NOT NULL"
    ).scalar()
    assert native and int(str(native)) > 30


def test_the_funnel_counts_what_was_written(sampled: Warehouse) -> None:
    rows = sampled.query("SELECT step, reason, items FROM funnel").as_dicts()
    found = {(row["step"], row["reason"]): row["items"] for row in rows}

    assert found["subtasks proposed", ""] == 3
    assert found["subtasks verified", ""] == 2
    assert found["tasks validated", ""] == 1
    assert found["tasks replayed", ""] == 1
    assert found["subtask rejected", "not_reproducible"] == 1


def test_what_was_rejected_and_is_verified_since_counts_as_verified(filled: Warehouse) -> None:
    rejected = next(filled.read(Rejection, "item_kind = 'subtask'"))
    again = rejected.model_copy(update={"rejection_id": "earlier", "item_id": "notes.create"})
    filled.write([again])

    rows = filled.query("SELECT items FROM funnel WHERE step = 'subtask rejected'").as_dicts()

    assert rows == [{"items": 1}]


def test_imported_tasks_are_not_counted_as_composed(warehouse: Warehouse, tmp_path: Path) -> None:
    foreign.write(tmp_path, "examples/chrome/bad.json", {**foreign.OSWORLD, "id": "bad", "instruction": ""})
    run_import(warehouse, "osworld", foreign.osworld(tmp_path), skip_broken=True)

    rows = warehouse.query("SELECT step, items FROM funnel").as_dicts()
    found = {row["step"]: row["items"] for row in rows}

    assert found["tasks composed"] == 0
    assert found["tasks imported"] == warehouse.count(Task) > 0
    assert found["task rejected"] == 1
