"""Asks a read-only connection one SELECT, in a time that is given."""

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Final, TypeVar

import duckdb
import pyarrow as pa

from taskloom.warehouse.errors import QueryFailedError, QueryRefusedError, TableMissingError
from taskloom.warehouse.querying.query_result import QueryResult
from taskloom.warehouse.storage.database import LAKE, connect_reader, retried
from taskloom.warehouse.storage.extensions import quoted
from taskloom.warehouse.storage.known_schema import is_known
from taskloom.warehouse.storage.locations import Location, parse_location
from taskloom.warehouse.storage.storage_access import without_secrets

T = TypeVar("T")
Bound = Sequence[object] | Mapping[str, object]


class Reader(ABC):
    """Asks a warehouse questions in SQL, which can neither change it nor reach outside it."""

    location: Location

    @abstractmethod
    def _session(self) -> tuple[duckdb.DuckDBPyConnection, str, AbstractContextManager[object]]:
        """A connection for one question, the catalogue to ask, and what is held meanwhile."""

    def query(self, sql: str, parameters: Bound = ()) -> QueryResult:
        """The answer to one SELECT; `QueryRefusedError` where `admit` refuses it, `QueryFailedError` where it
        does not run.
        """
        return QueryResult.of(self._ask(sql, parameters, lambda found: found.to_arrow_table()))

    def stream(
        self,
        sql: str,
        take: Callable[[pa.RecordBatchReader], T],
        parameters: Bound,
        timeout_seconds: float | None = None,
        rows: int = 20_000,
    ) -> T:
        """What `take` makes of a `query`, `rows` at a time; called again where the catalogue was busy,
        stopped after `timeout_seconds`.
        """
        return self._ask(sql, parameters, lambda found: take(found.to_arrow_reader(rows)), timeout_seconds)

    def first_rows(
        self,
        sql: str,
        parameters: Bound,
        timeout_seconds: float | None,
        most_rows: int | None,
        most_bytes: int | None,
    ) -> tuple[QueryResult, bool]:
        """The first rows of the answer to `sql`, and whether there are more; see `QueryResult.first`."""
        first = partial(QueryResult.first, most_rows=most_rows, most_bytes=most_bytes)
        return self.stream(sql, first, parameters, timeout_seconds, 1000)

    def _ask(
        self,
        sql: str,
        parameters: Bound,
        take: Callable[[duckdb.DuckDBPyConnection], T],
        timeout_seconds: float | None = None,
    ) -> T:
        connection, catalogue, turn = self._session()
        bound = dict(parameters) if isinstance(parameters, Mapping) else list(parameters)
        late = threading.Event()

        def stop() -> None:
            late.set()
            connection.interrupt()

        def attempt() -> T:
            # Before the lake is in use: each statement after that reads the catalogue's state anew.
            admit(connection, sql)
            connection.execute(f"USE {catalogue}")
            return take(connection.execute(sql, bound))

        timer: threading.Timer | None = None
        if timeout_seconds is not None:
            timer = threading.Timer(timeout_seconds, stop)
            timer.start()
        try:
            with turn:
                return retried(attempt, self.location)
        except (duckdb.Error, OSError) as error:  # Arrow reports an interrupted stream as an OSError.
            if late.is_set():
                raise QueryFailedError(
                    f"The query took longer than {timeout_seconds} s and was stopped."
                ) from None
            if not isinstance(error, duckdb.Error):
                raise
            kind = TableMissingError if isinstance(error, duckdb.CatalogException) else QueryFailedError
            raise kind(without_secrets(str(error).strip())) from None
        finally:
            if timer is not None:
                timer.cancel()
            connection.close()


class QuickReader(Reader):
    """The present state of a warehouse whose schema is known to be the present one: it is asked without
    loading the records, in half the time."""

    def __init__(self, location: Location, connection: duckdb.DuckDBPyConnection) -> None:
        """Use `connection`, which `open_quickly` made."""
        self.location = location
        self._connection = connection

    def _session(self) -> tuple[duckdb.DuckDBPyConnection, str, AbstractContextManager[object]]:
        return self._connection.cursor(), LAKE, nullcontext()


def open_quickly(address: str) -> QuickReader | None:
    """A reader of the warehouse at `address`; None where only `Warehouse` knows how to read it."""
    location = parse_location(address)
    connection = connect_reader(location)
    if retried(lambda: is_known(connection), location):
        return QuickReader(location, connection)
    connection.close()
    return None


_FUNCTIONS: Final = (
    "unnest range generate_series repeat_row duckdb_columns duckdb_tables duckdb_views duckdb_functions"
    " pragma_table_info json_each json_tree summary"
)
TABLE_FUNCTIONS: Final = frozenset(_FUNCTIONS.split())
"""Table functions that neither read files nor run other SQL."""
_REFUSED_SCALARS: Final = (
    *("getenv", "current_setting", "write_log", "json_execute_serialized_sql", "query", "query_table"),
    *("nextval", "setseed"),
)
_REFUSED_TABLES: Final = (
    *("pg_settings", "duckdb_settings", "duckdb_databases", "duckdb_logs", "duckdb_secrets"),
    "pragma_database_list",
)
"""Views of DuckDB itself that say how the warehouse is reached."""
_REFUSED_CATALOGUES: Final = ("__ducklake_metadata", "system", "temp")


def admit(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Accept `sql`, or raise: `QueryFailedError` for no SQL, `QueryRefusedError` for several statements, no
    SELECT, or a function that is not admitted."""
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
