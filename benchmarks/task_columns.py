"""Bulk loading of tasks: whole columns are checked, without a record object per row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

import duckdb
import pyarrow as pa

from taskloom.resources.dimensions import DIMENSIONS, LEVELS
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import RowInvalidError
from taskloom.warehouse.schema import APPLICATIONS_SQL, TABLE_NAMED
from taskloom.warehouse.storage.database import first_row
from taskloom.warehouse.storage.rows import batch_of, insert_rows
from taskloom.warehouse.store import Warehouse

_BATCH_ROWS: Final = 50_000
_TASKS: Final = TABLE_NAMED["tasks"]
_LEVELS: Final = ", ".join(f"'{level}'" for level in LEVELS)
_ALL_APPLICATIONS_SQL: Final = (
    f"list_sort(list_distinct(list_concat({APPLICATIONS_SQL}, coalesce(other_applications, []))))"
)
_CHECKS: Final = {
    "task_id is empty": "task_id IS NULL OR task_id = ''",
    "node_count is not the number of nodes": "node_count IS DISTINCT FROM len(nodes)",
    "an edge names a subtask that is not a node": (
        "NOT list_has_all([n.instance_id FOR n IN nodes],"
        " list_concat([e.producer FOR e IN edges], [e.consumer FOR e IN edges]))"
    ),
    "a node occurs twice": "len(list_distinct([n.instance_id FOR n IN nodes])) <> len(nodes)",
    **{
        f"{dimension}_level is not a level": f"coalesce({dimension}_level, '') NOT IN ({_LEVELS})"
        for dimension in DIMENSIONS
    },
}


def write_tasks(warehouse: Warehouse, tasks: Iterable[Task]) -> int:
    """Store tasks from an iterator of any length in one commit, with one batch in memory at a time; returns
    their number.

    Raises:
        RowInvalidError: a task cannot be stored; nothing was stored.
    """
    return write_task_columns(warehouse, _task_tables(iter(tasks)))


def write_task_columns(warehouse: Warehouse, batches: Iterable[pa.RecordBatch | pa.Table]) -> int:
    """Store Arrow batches with the columns of `tasks` in one commit; returns the total number of rows.

    Missing columns are NULL and read as their defaults. Rows whose id is already stored remain unchanged.

    Raises:
        RowInvalidError: an unknown column, a value of the wrong type, or a row that violates a rule of tasks;
            the rule and an id are named, and nothing was stored.
    """
    total = 0

    def put(connection: duckdb.DuckDBPyConnection) -> None:
        nonlocal total
        total = 0
        for batch in batches:
            table = _with_applications(connection, _fit_schema(batch))
            _check(connection, table)
            insert_rows(connection, {"tasks": table}, replace=False)
            total += table.num_rows

    warehouse.change(put)
    return total


def _task_tables(tasks: Iterator[Task]) -> Iterator[pa.Table]:
    while part := list(islice(tasks, _BATCH_ROWS // 10)):
        yield batch_of(part).arrow()["tasks"]


def _fit_schema(batch: pa.RecordBatch | pa.Table) -> pa.Table:
    table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
    unknown = set(table.column_names) - set(_TASKS.arrow.names)
    if unknown:
        raise RowInvalidError(f"Tasks have no column {', '.join(sorted(unknown))}.")
    columns = []
    for item in _TASKS.arrow:
        if item.name not in table.column_names:
            columns.append(pa.nulls(table.num_rows, item.type))
            continue
        try:
            columns.append(table.column(item.name).cast(item.type))
        except pa.ArrowException as error:
            raise RowInvalidError(f"The column {item.name} of tasks must be {item.type}: {error}") from None
    return pa.Table.from_arrays(columns, schema=_TASKS.arrow)


def _with_applications(connection: duckdb.DuckDBPyConnection, table: pa.Table) -> pa.Table:
    """The rows with the column `applications` computed from their other columns."""
    connection.register("given_rows", table)
    try:
        query = f"SELECT {_ALL_APPLICATIONS_SQL} AS applications FROM given_rows"
        applications = connection.execute(query).to_arrow_table()
    finally:
        connection.unregister("given_rows")
    index = table.schema.get_field_index("applications")
    return table.set_column(index, table.schema.field(index), applications.column(0))


def _check(connection: duckdb.DuckDBPyConnection, table: pa.Table) -> None:
    """Refuse the first row that violates a rule."""
    rules = list(_CHECKS.items())
    case = " ".join(f"WHEN {condition} THEN {position}" for position, (_, condition) in enumerate(rules))
    connection.register("checked_rows", table)
    try:
        violation = first_row(
            connection,
            f"SELECT task_id, CASE {case} END AS rule FROM checked_rows WHERE rule IS NOT NULL LIMIT 1",
        )
        duplicate = first_row(
            connection, "SELECT task_id FROM checked_rows GROUP BY task_id HAVING count(*) > 1 LIMIT 1"
        )
    finally:
        connection.unregister("checked_rows")
    if violation is not None:
        raise RowInvalidError(f"Task {violation[0]!r}: {rules[int(str(violation[1]))][0]}.")
    if duplicate is not None:
        raise RowInvalidError(f"Task {duplicate[0]!r} occurs twice in one batch.")
