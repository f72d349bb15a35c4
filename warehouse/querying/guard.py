"""Admits read-only SQL: one SELECT over the lake, without functions that open files or other databases."""

from __future__ import annotations

import json
from typing import Final

import duckdb

from taskloom.warehouse.errors import QueryFailedError, QueryRefusedError
from taskloom.warehouse.storage.sql_text import quoted

TABLE_FUNCTIONS: Final = frozenset(
    {
        "unnest",
        "range",
        "generate_series",
        "repeat_row",
        "duckdb_columns",
        "duckdb_tables",
        "duckdb_views",
        "duckdb_functions",
        "pragma_table_info",
        "json_each",
        "json_tree",
        "summary",
    }
)
"""Table functions that neither read files nor run other SQL."""
_REFUSED_SCALARS: Final = frozenset(
    {
        "getenv",
        "current_setting",
        "write_log",
        "json_execute_serialized_sql",
        "query",
        "query_table",
        "nextval",
        "setseed",
    }
)
_REFUSED_TABLES: Final = frozenset(
    {
        "pg_settings",
        "duckdb_settings",
        "duckdb_databases",
        "duckdb_logs",
        "duckdb_secrets",
        "pragma_database_list",
    }
)
"""Views of DuckDB itself that say how the warehouse is reached."""
_REFUSED_CATALOGUES: Final = ("__ducklake_metadata", "system", "temp")


def admit(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Accept `sql`, or raise with the reason.

    Raises:
        QueryFailedError: it is no SQL.
        QueryRefusedError: it is more than one statement, no SELECT, or calls a function that is not on the
            list.
    """
    try:
        statements = connection.extract_statements(sql)
    except duckdb.Error as error:
        raise QueryFailedError(str(error).strip()) from None
    if not statements:
        raise QueryFailedError("The query is empty.")
    if len(statements) > 1:
        raise QueryRefusedError(
            "One SELECT at a time; a PIVOT needs its values listed: PIVOT … ON column IN ('a', 'b') …."
        )
    if statements[0].type != duckdb.StatementType.SELECT:
        kind = str(statements[0].type).rsplit(".", 1)[-1]
        raise QueryRefusedError(
            f"The warehouse can only be asked (SELECT, DESCRIBE, SUMMARIZE); this is {kind}."
        )
    # Written out: for a bound value DuckDB imports pandas where that is installed, half a second.
    text = quoted(sql.strip().rstrip(";"))
    rows = connection.execute(f"SELECT json_serialize_sql('{text}')").fetchall()
    tree = json.loads(rows[0][0])
    if tree.get("error"):
        raise QueryRefusedError(
            "The warehouse can only be asked (SELECT, DESCRIBE, SUMMARIZE); this statement cannot be checked,"
            " so it is not run."
        )
    _walk(tree)


def _walk(node: object) -> None:
    if isinstance(node, list):
        for item in node:
            _walk(item)
        return
    if not isinstance(node, dict):
        return
    kind = node.get("type")
    if kind == "TABLE_FUNCTION":
        function = node.get("function") or {}
        name = str(function.get("function_name", "")).lower()
        if name not in TABLE_FUNCTIONS:
            raise QueryRefusedError(
                f"The table function {name!r} is not admitted, because it could leave the warehouse."
                f" Admitted: {', '.join(sorted(TABLE_FUNCTIONS))}."
            )
    if node.get("class") == "FUNCTION" and str(node.get("function_name", "")).lower() in _REFUSED_SCALARS:
        raise QueryRefusedError(f"The function {node.get('function_name')!r} is not admitted.")
    if kind == "BASE_TABLE":
        catalogue = f"{node.get('catalog_name', '')}.{node.get('schema_name', '')}"
        if any(name in catalogue for name in _REFUSED_CATALOGUES):
            raise QueryRefusedError(f"Only the warehouse's own tables can be asked, not {catalogue}.")
        if str(node.get("table_name", "")).lower() in _REFUSED_TABLES:
            raise QueryRefusedError(f"The table {node.get('table_name')!r} is not admitted.")
    for value in node.values():
        _walk(value)
