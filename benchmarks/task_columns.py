"""Bulk loading of tasks: columns are checked as columns, without one record object per row."""

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

_ROWS: Final = 50_000
_TASKS: Final = TABLE_NAMED["tasks"]
_LEVELS: Final = ", ".join(f"'{level}'" for level in LEVELS)
_NEEDED: Final = (
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
    """Store tasks from an iterator of any length in one commit, a batch in memory at a time; returns their
    number.

    Raises:
        RowInvalidError: a task that cannot be stored; nothing was.
    """
    return write_task_columns(warehouse, _columns(iter(tasks)))


def write_task_columns(warehouse: Warehouse, batches: Iterable[pa.RecordBatch | pa.Table]) -> int:
    """Store Arrow batches with the columns of `tasks` in one commit; the number of rows given.

    Missing columns are NULL and read as their defaults. Rows whose id is stored already are left as they are.

    Raises:
        RowInvalidError: an unknown column, a value of the wrong type, or a row that breaks a rule of tasks;
            the rule and an id are named, and nothing was stored.
    """
    given = 0

    def put(connection: duckdb.DuckDBPyConnection) -> None:
        nonlocal given
        given = 0
        for batch in batches:
            table = _with_applications(connection, _fitted(batch))
            _check(connection, table)
            insert_rows(connection, {"tasks": table}, replace=False)
            given += table.num_rows

    warehouse.change(put)
    return given


def _columns(tasks: Iterator[Task]) -> Iterator[pa.Table]:
    while part := list(islice(tasks, _ROWS // 10)):
        yield batch_of(part).arrow()["tasks"]


def _fitted(batch: pa.RecordBatch | pa.Table) -> pa.Table:
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
    """The rows with the column that follows from their other columns, whatever it held."""
    connection.register("given_rows", table)
    try:
        found = connection.execute(f"SELECT {_NEEDED} AS applications FROM given_rows").to_arrow_table()
    finally:
        connection.unregister("given_rows")
    place = table.schema.get_field_index("applications")
    return table.set_column(place, table.schema.field(place), found.column(0))


def _check(connection: duckdb.DuckDBPyConnection, table: pa.Table) -> None:
    """Refuse the first row that breaks a rule."""
    rules = list(_CHECKS.items())
    case = " ".join(f"WHEN {condition} THEN {position}" for position, (_, condition) in enumerate(rules))
    connection.register("checked_rows", table)
    try:
        broken = first_row(
            connection,
            f"SELECT task_id, CASE {case} END AS rule FROM checked_rows WHERE rule IS NOT NULL LIMIT 1",
        )
        doubled = first_row(
            connection, "SELECT task_id FROM checked_rows GROUP BY task_id HAVING count(*) > 1 LIMIT 1"
        )
    finally:
        connection.unregister("checked_rows")
    if broken is not None:
        raise RowInvalidError(f"Task {broken[0]!r}: {rules[int(str(broken[1]))][0]}.")
    if doubled is not None:
        raise RowInvalidError(f"Task {doubled[0]!r} occurs twice in one batch.")
