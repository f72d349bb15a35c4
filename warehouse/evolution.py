"""Creates the tables of a new warehouse and brings older ones up to the present schema, in place.

The present schema is derived from the records, so most changes need nothing written here: a column or nested field
that a stored table lacks is added and reads as its default. What cannot be derived (a column renamed, a value
rewritten) is a numbered step in `MIGRATIONS`. A warehouse written by a later taskloom is refused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Final

import duckdb
import pyarrow as pa

from warehouse.database import first_row
from warehouse.errors import WarehouseTooNew
from warehouse.schema import SCHEMA_VERSION, TABLES, Table, sql_type
from warehouse.views import View, views

STATE_TABLE: Final = "warehouse_schema"
"""Table with one row per schema the warehouse has had; the last is the present one."""

MIGRATIONS: Final[Mapping[int, Callable[[duckdb.DuckDBPyConnection], None]]] = {}
"""For a schema version: what turns the version before into it, beyond added columns."""


def fingerprint() -> str:
    """Hash of all table and view definitions of this taskloom."""
    parts = [
        f"{table.name} {column.name} {sql_type(column.arrow)} {column.comment}"
        for table in TABLES
        for column in table.columns
    ]
    parts += [f"{view.name} {view.sql} {view.comment} {sorted(view.columns.items())}" for view in views()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def is_current(connection: duckdb.DuckDBPyConnection, shown: str) -> bool:
    """Whether the attached lake has the present schema.

    Raises:
        WarehouseTooNew: it was written by a later taskloom.
    """
    stored = _stored_state(connection)
    if stored is None:
        return False
    version, mark = stored
    if version > SCHEMA_VERSION:
        raise WarehouseTooNew(
            f"The warehouse {shown} has schema {version}; this taskloom knows up to {SCHEMA_VERSION}. Install a"
            " later taskloom, or name another warehouse."
        )
    return version == SCHEMA_VERSION and mark == fingerprint()


def bring_up_to_date(connection: duckdb.DuckDBPyConnection) -> None:
    """Create what is missing, in one transaction. Call with the writer's lock held."""
    stored = _stored_state(connection)
    connection.execute("BEGIN")
    try:
        if stored is not None:
            for version in range(stored[0] + 1, SCHEMA_VERSION + 1):
                if version in MIGRATIONS:
                    MIGRATIONS[version](connection)
        else:
            connection.execute(
                f"CREATE TABLE {STATE_TABLE} (version BIGINT, fingerprint VARCHAR, applied_at TIMESTAMP)"
            )
            connection.execute(
                "CREATE TABLE data_model (table_name VARCHAR, column_name VARCHAR, column_type VARCHAR, comment VARCHAR)"
            )
        for table in TABLES:
            _create_or_extend(connection, table)
        for view in views():
            connection.execute(f"CREATE OR REPLACE VIEW {view.name} AS {view.sql}")
            connection.execute(f"COMMENT ON VIEW {view.name} IS '{_quoted(view.comment)}'")
        _describe(connection, views())
        connection.execute(
            f"INSERT INTO {STATE_TABLE} VALUES (?, ?, now()::TIMESTAMP)", [SCHEMA_VERSION, fingerprint()]
        )
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _stored_state(connection: duckdb.DuckDBPyConnection) -> tuple[int, str] | None:
    found = first_row(
        connection,
        "SELECT count(*) FROM duckdb_tables() WHERE table_name = ? AND NOT internal",
        [STATE_TABLE],
    )
    if not found or not found[0]:
        return None
    row = first_row(
        connection,
        f"SELECT version, fingerprint FROM {STATE_TABLE} ORDER BY applied_at DESC, version DESC LIMIT 1",
    )
    return (int(str(row[0])), str(row[1])) if row else None


def _create_or_extend(connection: duckdb.DuckDBPyConnection, table: Table) -> None:
    stored = first_row(
        connection, "SELECT count(*) FROM duckdb_tables() WHERE table_name = ? AND NOT internal", [table.name]
    )
    if not stored or not stored[0]:
        columns = ", ".join(f'"{column.name}" {sql_type(column.arrow)}' for column in table.columns)
        connection.execute(f"CREATE TABLE {table.name} ({columns})")
    else:
        present = connection.execute(f"SELECT * FROM {table.name} LIMIT 0").to_arrow_table().schema
        for path, arrow in missing(present, table.arrow):
            dotted = ".".join(f'"{part}"' for part in path)
            connection.execute(f"ALTER TABLE {table.name} ADD COLUMN {dotted} {sql_type(arrow)}")
    connection.execute(f"COMMENT ON TABLE {table.name} IS '{_quoted(table.comment)}'")
    for column in table.columns:
        connection.execute(f"COMMENT ON COLUMN {table.name}.\"{column.name}\" IS '{_quoted(column.comment)}'")


def missing(present: pa.Schema, wanted: pa.Schema) -> list[tuple[tuple[str, ...], pa.DataType]]:
    """Paths of columns and nested fields that `wanted` has beyond `present`, outermost first."""
    found: list[tuple[tuple[str, ...], pa.DataType]] = []
    for item in wanted:
        index = present.get_field_index(item.name)
        if index < 0:
            found.append(((item.name,), item.type))
        else:
            found.extend(_missing_inside((item.name,), present.field(index).type, item.type))
    return found


def _missing_inside(
    path: tuple[str, ...], present: pa.DataType, wanted: pa.DataType
) -> list[tuple[tuple[str, ...], pa.DataType]]:
    if pa.types.is_list(wanted) and pa.types.is_list(present):
        return _missing_inside((*path, "element"), present.value_type, wanted.value_type)
    if not (pa.types.is_struct(wanted) and pa.types.is_struct(present)):
        return []
    found: list[tuple[tuple[str, ...], pa.DataType]] = []
    for item in wanted:
        index = present.get_field_index(item.name)
        if index < 0:
            found.append(((*path, item.name), item.type))
        else:
            found.extend(_missing_inside((*path, item.name), present.field(index).type, item.type))
    return found


def _describe(connection: duckdb.DuckDBPyConnection, known: tuple[View, ...]) -> None:
    """Fill `data_model`, the table in which every column of every table and view is explained."""
    rows = [
        (table.name, column.name, sql_type(column.arrow), column.comment)
        for table in TABLES
        for column in table.columns
    ]
    for view in known:
        described = connection.execute(f"DESCRIBE {view.name}").fetchall()
        rows += [(view.name, name, kind, view.columns.get(name, "")) for name, kind, *_ in described]
    connection.execute("DELETE FROM data_model")
    names, columns, kinds, comments = (list(part) for part in zip(*rows, strict=True))
    incoming = pa.table(
        {"table_name": names, "column_name": columns, "column_type": kinds, "comment": comments}
    )
    connection.register("incoming_descriptions", incoming)
    connection.execute("INSERT INTO data_model BY NAME SELECT * FROM incoming_descriptions")
    connection.unregister("incoming_descriptions")


def _quoted(text: str) -> str:
    return text.replace("'", "''")
