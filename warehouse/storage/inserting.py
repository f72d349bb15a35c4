"""Inserts Arrow tables into the lake inside an open transaction; every id at most once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import duckdb
import pyarrow as pa

from taskloom.warehouse.schema import TABLE_NAMED


def insert_rows(connection: duckdb.DuckDBPyConnection, tables: Mapping[str, pa.Table], replace: bool) -> None:
    """Insert the rows whose ids are not stored yet; with `replace`, replace those that are.

    Steps are told new from old by their trajectory, so they go in before it does.
    """
    if replace:
        for name, incoming_table in tables.items():
            _delete(connection, name, incoming_table)
    for name in sorted(tables, key=lambda name: name != "trajectory_steps"):
        table = TABLE_NAMED[name]
        key = table.key if name != "trajectory_steps" else ("trajectory_id",)
        present = name if name != "trajectory_steps" else "trajectories"
        using = ", ".join(f'"{part}"' for part in key)
        prepared = ", ".join(f'{sql} AS "{column}"' for column, sql in table.prepared.items())
        columns = f"* REPLACE ({prepared})" if prepared else "*"
        with _registered(connection, tables[name]) as incoming:
            connection.execute(
                f"INSERT INTO {name} BY NAME SELECT {columns} FROM {incoming} ANTI JOIN {present} USING"
                f" ({using})"
            )


def _delete(connection: duckdb.DuckDBPyConnection, name: str, incoming_table: pa.Table) -> None:
    table = TABLE_NAMED[name]
    if table.record is None or name == "trajectory_steps":
        return
    key = ", ".join(f'"{part}"' for part in table.key)
    with _registered(connection, incoming_table) as incoming:
        for target in (name, "trajectory_steps") if name == "trajectories" else (name,):
            connection.execute(f"DELETE FROM {target} WHERE ({key}) IN (SELECT ({key}) FROM {incoming})")


@contextmanager
def _registered(connection: duckdb.DuckDBPyConnection, table: pa.Table) -> Iterator[str]:
    connection.register("incoming_rows", table)
    try:
        yield "incoming_rows"
    finally:
        connection.unregister("incoming_rows")
