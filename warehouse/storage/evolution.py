"""Creates the tables of a new warehouse and brings older ones up to the present schema, in place.

Missing columns and nested fields are added and read as their defaults. What cannot be derived (a
column renamed, a value rewritten) is a numbered step in `MIGRATIONS`.
"""

import hashlib
from collections.abc import Mapping
from typing import Final

import duckdb
import pyarrow as pa

from taskloom.warehouse.errors import WarehouseTooNewError
from taskloom.warehouse.field_codecs import sql_type
from taskloom.warehouse.schema import APPLICATIONS_SQL, SCHEMA_VERSION, TABLES, Table
from taskloom.warehouse.storage.database import LAKE, registered, transaction
from taskloom.warehouse.storage.extensions import quoted
from taskloom.warehouse.storage.known_schema import STATE_TABLE, remember, stored_state
from taskloom.warehouse.views import View, views

_REWRITTEN: Final = "rewritten_table"
COMPLETED: Final = "memory"
"""Catalogue of the views that `complete_for_reading` creates."""
MIGRATIONS: Final[Mapping[int, tuple[str, ...]]] = {
    3: (f"UPDATE tasks SET applications = {APPLICATIONS_SQL}",),
    4: tuple(
        f'UPDATE {table.name} SET "{column}" = {sql}'
        for table in TABLES
        for column, sql in table.prepared.items()
    ),
}
"""By schema version: the SQL that migrates from the version before, after missing columns were added."""


def fingerprint() -> str:
    """Hash of all table and view definitions of this version of taskloom."""
    parts = [
        f"{table.name} {column.name} {sql_type(column.arrow)} {column.comment}"
        for table in TABLES
        for column in table.columns
    ]
    parts += [f"{view.name} {view.sql} {view.comment} {sorted(view.columns.items())}" for view in views()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def is_current(connection: duckdb.DuckDBPyConnection, label: str) -> bool:
    """Whether the attached lake has the present schema; `WarehouseTooNewError` if it has a newer one."""
    stored = stored_state(connection)
    if stored is None:
        return False
    version, stored_fingerprint = stored
    if version > SCHEMA_VERSION:
        raise WarehouseTooNewError(
            f"The warehouse {label} has schema {version}; this taskloom knows up to {SCHEMA_VERSION}. Install"
            " a later taskloom, or name another warehouse."
        )
    current = version == SCHEMA_VERSION and stored_fingerprint == fingerprint()
    if current:
        remember(version, stored_fingerprint)
    return current


def bring_up_to_date(connection: duckdb.DuckDBPyConnection) -> None:
    """Create what is missing, in one transaction. Call with the writer lock held."""
    stored = stored_state(connection)
    with transaction(connection):
        if stored is None:
            connection.execute(
                f"CREATE TABLE {STATE_TABLE} (version BIGINT, fingerprint VARCHAR, applied_at TIMESTAMP)"
            )
            connection.execute(
                "CREATE TABLE data_model (table_name VARCHAR, column_name VARCHAR, column_type VARCHAR,"
                " comment VARCHAR)"
            )
        stored_tables = _stored_tables(connection)
        for table in TABLES:
            _create_or_extend(connection, table, table.name in stored_tables)
        for version in range(stored[0] + 1 if stored else SCHEMA_VERSION + 1, SCHEMA_VERSION + 1):
            for statement in MIGRATIONS.get(version, ()):
                connection.execute(statement)
        for view in views():
            connection.execute(f"CREATE OR REPLACE VIEW {view.name} AS {view.sql}")
            connection.execute(f"COMMENT ON VIEW {view.name} IS '{quoted(view.comment)}'")
        _describe(connection, views())
        connection.execute(
            f"INSERT INTO {STATE_TABLE} VALUES (?, ?, now()::TIMESTAMP)", [SCHEMA_VERSION, fingerprint()]
        )
    _start_statistics(connection)
    # Tasks are searched: LZ4 reads twice as fast as Zstandard, at twice the size of a small part of the data.
    connection.execute(f"CALL {LAKE}.set_option('parquet_compression', 'lz4_raw', table_name => 'tasks')")


def _start_statistics(connection: duckdb.DuckDBPyConnection) -> None:
    """Give tables that never had rows empty statistics, to which DuckLake adds those of each file.

    Without them DuckLake queries the catalogue for each column that a query plans to read.
    """
    empty = "end_snapshot IS NULL AND table_id NOT IN (SELECT table_id FROM ducklake_data_file)"
    # While the lake is in use, its own transaction would lock the catalogue against this one.
    connection.execute(f"USE __ducklake_metadata_{LAKE}")
    try:
        with transaction(connection):
            connection.execute(
                "INSERT INTO ducklake_table_column_stats (table_id, column_id, contains_null, contains_nan)"
                " SELECT table_id, column_id, false, CASE WHEN column_type LIKE 'float%' THEN false END"
                f" FROM ducklake_column AS c WHERE column_type NOT IN ('struct', 'list', 'map') AND {empty}"
                " AND NOT EXISTS (FROM ducklake_table_column_stats AS s"
                " WHERE s.table_id = c.table_id AND s.column_id = c.column_id)"
            )
            connection.execute(
                "INSERT INTO ducklake_table_stats (table_id, record_count, next_row_id, file_size_bytes)"
                f" SELECT table_id, 0, 0, 0 FROM ducklake_table WHERE {empty}"
                " AND table_id NOT IN (SELECT table_id FROM ducklake_table_stats)"
            )
    finally:
        connection.execute(f"USE {LAKE}")


def complete_for_reading(connection: duckdb.DuckDBPyConnection) -> None:
    """Give a connection to an older state the present schema; nothing is written.

    Views in DuckDB's own memory shadow the lake: missing tables are empty, missing columns and fields
    NULL, and those derived from others are computed.
    """
    stored = _stored_tables(connection)
    connection.execute(f"USE {COMPLETED}")
    for name in sorted(stored - {table.name for table in TABLES}):
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM {LAKE}.main.{name}")
    for table in TABLES:
        source = f"{LAKE}.main.{table.name}" if table.name in stored else ""
        connection.execute(f"CREATE VIEW {table.name} AS {_select_columns(connection, table, source)}")
    for view in views():
        connection.execute(f"CREATE VIEW {view.name} AS {view.sql}")


def _select_columns(connection: duckdb.DuckDBPyConnection, table: Table, source: str) -> str:
    """A SELECT with the present columns of `table` from an older schema; no rows without a source."""
    types = {column.name: sql_type(column.arrow) for column in table.columns}
    if not source:
        nulls = ", ".join(f'CAST(NULL AS {type_}) AS "{name}"' for name, type_ in types.items())
        return f"SELECT {nulls} WHERE false"
    present = _schema_of(connection, source)
    computed = {**table.prepared, **({"applications": APPLICATIONS_SQL} if table.name == "tasks" else {})}
    lacking = _lacking_fields(present, table.arrow)
    columns = []
    for name, type_ in types.items():
        value = f'"{name}"' if name in present.names else computed.get(name, "NULL")
        if name in lacking or name not in present.names:
            value = f"CAST({value} AS {type_})"
        columns.append(f'{value} AS "{name}"')
    return f"SELECT {', '.join(columns)} FROM {source}"


def _schema_of(connection: duckdb.DuckDBPyConnection, table: str) -> pa.Schema:
    return connection.execute(f"SELECT * FROM {table} LIMIT 0").to_arrow_table().schema


def _stored_tables(connection: duckdb.DuckDBPyConnection) -> set[str]:
    rows = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = ? AND NOT internal", [LAKE]
    ).fetchall()
    return {str(row[0]) for row in rows}


def _create_or_extend(connection: duckdb.DuckDBPyConnection, table: Table, stored: bool) -> None:
    if not stored:
        columns = ", ".join(f'"{column.name}" {sql_type(column.arrow)}' for column in table.columns)
        connection.execute(f"CREATE TABLE {table.name} ({columns})")
    else:
        present = _schema_of(connection, table.name)
        lacking = _lacking_fields(present, table.arrow)
        if lacking:
            _widen(connection, table, lacking)
        for column in table.columns:
            if column.name not in present.names:
                type_ = sql_type(column.arrow)
                connection.execute(f'ALTER TABLE {table.name} ADD COLUMN "{column.name}" {type_}')
    connection.execute(f"COMMENT ON TABLE {table.name} IS '{quoted(table.comment)}'")
    for column in table.columns:
        connection.execute(f"COMMENT ON COLUMN {table.name}.\"{column.name}\" IS '{quoted(column.comment)}'")


def _widen(connection: duckdb.DuckDBPyConnection, table: Table, types: Mapping[str, str]) -> None:
    """Rewrite `table` with the nested fields that some of its columns lack.

    DuckLake can add a nested field in place, but DuckDB 1.5.5 corrupts its memory when it then reads files
    written before. Published versions keep the files they have.
    """
    replaced = ", ".join(f'CAST("{name}" AS {type_}) AS "{name}"' for name, type_ in types.items())
    connection.execute(
        f"CREATE TABLE {_REWRITTEN} AS SELECT * REPLACE ({replaced}) FROM {table.name} ORDER BY rowid"
    )
    connection.execute(f"DROP TABLE {table.name}")
    connection.execute(f"ALTER TABLE {_REWRITTEN} RENAME TO {table.name}")


def _merge_types(present: pa.DataType, wanted: pa.DataType) -> pa.DataType:
    """`present` with the nested fields it lacks; those that only it has are kept."""
    if pa.types.is_list(wanted) and pa.types.is_list(present):
        return pa.list_(_merge_types(present.value_type, wanted.value_type))
    if not (pa.types.is_struct(wanted) and pa.types.is_struct(present)):
        return present
    kept = [
        pa.field(item.name, _merge_types(item.type, wanted.field(item.name).type))
        if wanted.get_field_index(item.name) >= 0
        else item
        for item in present
    ]
    return pa.struct([*kept, *(item for item in wanted if present.get_field_index(item.name) < 0)])


def _lacking_fields(present: pa.Schema, wanted: pa.Schema) -> dict[str, str]:
    """The columns of `present` that lack nested fields, with the SQL type that has them."""
    types = {}
    for item in wanted:
        if item.name in present.names and pa.types.is_nested(item.type):
            stored = present.field(item.name).type
            type_ = sql_type(_merge_types(stored, item.type))
            if type_ != sql_type(stored):
                types[item.name] = type_
    return types


def _describe(connection: duckdb.DuckDBPyConnection, known_views: tuple[View, ...]) -> None:
    rows = [
        (table.name, column.name, sql_type(column.arrow), column.comment)
        for table in TABLES
        for column in table.columns
    ]
    for view in known_views:
        described = connection.execute(f"DESCRIBE {view.name}").fetchall()
        rows += [(view.name, name, type_, view.columns.get(name, "")) for name, type_, *_ in described]
    connection.execute("DELETE FROM data_model")
    columns = [pa.array(part) for part in zip(*rows, strict=True)]
    incoming = pa.table(columns, ["table_name", "column_name", "column_type", "comment"])
    with registered(connection, incoming_descriptions=incoming):
        connection.execute("INSERT INTO data_model BY NAME SELECT * FROM incoming_descriptions")
