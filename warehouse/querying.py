"""Queries in SQL: a read-only connection runs one SELECT within a time limit; the result is available as
rows, CSV, JSON and Parquet."""

from __future__ import annotations

import csv
import io
import json
import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, TextIO, TypeVar

import duckdb
import pyarrow as pa

from taskloom.warehouse.errors import (
    QueryFailedError,
    QueryRefusedError,
    TableMissingError,
    WarehouseUnavailableError,
)
from taskloom.warehouse.storage.database import LAKE, connect_reader, retry
from taskloom.warehouse.storage.extensions import quoted
from taskloom.warehouse.storage.known_schema import is_known
from taskloom.warehouse.storage.locations import Location, parse_location, without_secrets

if TYPE_CHECKING:
    from pydantic import JsonValue

T = TypeVar("T")
QueryParameters = Sequence[object] | Mapping[str, object]


class Reader(ABC):
    """Runs SQL queries, which can neither change the warehouse nor reach outside it."""

    location: Location

    @abstractmethod
    def _session(self) -> tuple[duckdb.DuckDBPyConnection, str, AbstractContextManager[object]]:
        """A connection for one query, the catalogue to use, and the lock to hold meanwhile."""

    def query(self, sql: str, parameters: QueryParameters = ()) -> QueryResult:
        """The result of one SELECT; `QueryRefusedError` if `admit` refuses it, `QueryFailedError` if it
        does not run.
        """
        return QueryResult.of(self._run(sql, parameters, lambda cursor: cursor.to_arrow_table()))

    def stream(
        self,
        sql: str,
        take: Callable[[pa.RecordBatchReader], T],
        parameters: QueryParameters,
        timeout_seconds: float | None = None,
        rows: int = 20_000,
    ) -> T:
        """The result of `take` on the rows of a query, `rows` at a time; called again if the catalogue was
        busy, stopped after `timeout_seconds`.
        """
        return self._run(sql, parameters, lambda cursor: take(cursor.to_arrow_reader(rows)), timeout_seconds)

    def first_rows(
        self,
        sql: str,
        parameters: QueryParameters,
        timeout_seconds: float | None,
        max_rows: int | None,
        max_bytes: int | None,
    ) -> tuple[QueryResult, bool]:
        """The first rows of the result, and whether there are more; see `QueryResult.first`."""
        first = partial(QueryResult.first, max_rows=max_rows, max_bytes=max_bytes)
        return self.stream(sql, first, parameters, timeout_seconds, 1000)

    def _run(
        self,
        sql: str,
        parameters: QueryParameters,
        take: Callable[[duckdb.DuckDBPyConnection], T],
        timeout_seconds: float | None = None,
    ) -> T:
        connection, catalogue, lock = self._session()
        bound = dict(parameters) if isinstance(parameters, Mapping) else list(parameters)
        timed_out = threading.Event()

        def stop() -> None:
            timed_out.set()
            connection.interrupt()

        def attempt() -> T:
            # Before `USE`, because each later statement reads the catalogue's state anew.
            admit(connection, sql)
            connection.execute(f"USE {catalogue}")
            return take(connection.execute(sql, bound))

        timer: threading.Timer | None = None
        if timeout_seconds is not None:
            timer = threading.Timer(timeout_seconds, stop)
            timer.start()
        try:
            with lock:
                return retry(attempt, self.location)
        except (duckdb.Error, OSError) as error:  # Arrow reports an interrupted stream as an OSError.
            if timed_out.is_set():
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
    """Reads the present state of a warehouse whose schema is known to be current, in half the time because
    the records are not imported."""

    def __init__(self, location: Location, connection: duckdb.DuckDBPyConnection) -> None:
        """Use `connection`, which `open_quickly` opened."""
        self.location = location
        self._connection = connection

    def _session(self) -> tuple[duckdb.DuckDBPyConnection, str, AbstractContextManager[object]]:
        return self._connection.cursor(), LAKE, nullcontext()


def open_quickly(address: str) -> QuickReader | None:
    """A reader of the warehouse at `address`; None if only `Warehouse` can read it."""
    location = parse_location(address)
    connection = connect_reader(location)
    if retry(lambda: is_known(connection), location):
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
"""Views of DuckDB itself that reveal how the warehouse is accessed."""
_REFUSED_CATALOGUES: Final = ("__ducklake_metadata", "system", "temp")


def admit(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Accept `sql`, or raise: `QueryFailedError` for invalid SQL, `QueryRefusedError` for several statements,
    anything but a SELECT, or a function that is not allowed."""
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
            f"The warehouse can only be queried (SELECT, DESCRIBE, SUMMARIZE); this is {kind}."
        )
    # Not a bound value: for that DuckDB imports pandas if it is installed, which takes half a second.
    text = quoted(sql.strip().rstrip(";"))
    rows = connection.execute(f"SELECT json_serialize_sql('{text}')").fetchall()
    tree = json.loads(rows[0][0])
    if tree.get("error"):
        raise QueryRefusedError(
            "The warehouse can only be queried (SELECT, DESCRIBE, SUMMARIZE); this statement cannot be"
            " checked, so it is not run."
        )
    _check_tree(tree)


def _check_tree(node: object) -> None:
    if isinstance(node, list):
        for item in node:
            _check_tree(item)
        return
    if not isinstance(node, dict):
        return
    kind = node.get("type")
    if kind == "TABLE_FUNCTION":
        function = node.get("function") or {}
        name = str(function.get("function_name", "")).lower()
        if name not in TABLE_FUNCTIONS:
            raise QueryRefusedError(
                f"The table function {name!r} is not allowed, because it could leave the warehouse."
                f" Allowed: {', '.join(sorted(TABLE_FUNCTIONS))}."
            )
    if node.get("class") == "FUNCTION" and str(node.get("function_name", "")).lower() in _REFUSED_SCALARS:
        raise QueryRefusedError(f"The function {node.get('function_name')!r} is not allowed.")
    if kind == "BASE_TABLE":
        catalogue = f"{node.get('catalog_name', '')}.{node.get('schema_name', '')}"
        if any(name in catalogue for name in _REFUSED_CATALOGUES):
            raise QueryRefusedError(f"Only the warehouse's own tables can be queried, not {catalogue}.")
        if str(node.get("table_name", "")).lower() in _REFUSED_TABLES:
            raise QueryRefusedError(f"The table {node.get('table_name')!r} is not allowed.")
    for value in node.values():
        _check_tree(value)


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Columns and rows of a query, held in memory."""

    table: pa.Table
    """The result as an Arrow table, whose columns have different names."""

    @classmethod
    def of(cls, table: pa.Table) -> Self:
        """The result in `table`; columns with the same name, as from a join, are numbered."""
        used: set[str] = set()
        names = []
        for name in table.column_names:
            number, unique = 0, name
            while unique in used or (number and unique in table.column_names):
                number += 1
                unique = f"{name}_{number}"
            used.add(unique)
            names.append(unique)
        return cls(table.rename_columns(names))

    @classmethod
    def first(
        cls, reader: pa.RecordBatchReader, max_rows: int | None, max_bytes: int | None
    ) -> tuple[Self, bool]:
        """At most the first `max_rows`, cut at the batch that exceeds `max_bytes`, and whether there are
        more."""
        batches, rows, size = [], 0, 0
        for batch in reader:
            batches.append(batch)
            rows += batch.num_rows
            size += batch.nbytes
            if (max_rows is not None and rows > max_rows) or (max_bytes is not None and size > max_bytes):
                break
        has_more = (max_rows is not None and rows > max_rows) or next(iter(reader), None) is not None
        return cls.of(pa.Table.from_batches(batches, reader.schema).slice(0, max_rows)), has_more

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.table.column_names)

    @property
    def row_count(self) -> int:
        """Number of rows."""
        return int(self.table.num_rows)

    def rows(self) -> Iterator[tuple[JsonValue, ...]]:
        """Rows as JSON values; see `json_value`."""
        for batch in self.table.to_batches(max_chunksize=10_000):
            columns = [
                column.to_pylist() if _is_json(column.type) else list(map(json_value, column.to_pylist()))
                for column in batch.columns
            ]
            yield from zip(*columns, strict=True)

    def as_dicts(self) -> list[dict[str, JsonValue]]:
        """Rows as objects."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows()]

    def texts(self) -> list[str]:
        """The first column as texts."""
        return [str(value) for value, *_ in self.rows()]

    def number(self) -> int:
        """The first value of the first row, a whole number."""
        return int(str(self.scalar()))

    def scalar(self) -> JsonValue:
        """The first value of the first row, or None."""
        return next(self.rows(), (None,))[0]

    def to_csv(self) -> str:
        """The result as CSV with a header line; nested values are JSON."""
        out = io.StringIO()
        self.write_csv_rows(out, header=True)
        return out.getvalue()

    def write_csv_rows(self, out: TextIO, header: bool) -> None:
        """Write the rows to `out` as CSV, with a `header` line if wanted."""
        writer = csv.writer(out, lineterminator="\n")
        if header:
            writer.writerow(self.columns)
        for row in self.rows():
            writer.writerow(
                json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value
                for value in row
            )

    def write_parquet(self, path: Path) -> None:
        """Write the result to a Parquet file, complete or not at all (`WarehouseUnavailableError`)."""
        import pyarrow.parquet

        temporary = path.with_name(f".{path.name}.part")
        try:
            pyarrow.parquet.write_table(self.table, temporary, compression="zstd")
            temporary.replace(path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise WarehouseUnavailableError(f"{path} cannot be written: {error.strerror or error}") from None


def _is_json(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return all(_is_json(field.type) for field in kind.fields)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _is_json(kind.value_type)
    return any(
        test(kind)
        for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_boolean)
    )


def json_value(value: object) -> JsonValue:
    """A database value as a JSON value: NaN and infinities as null, dates and times in ISO 8601, whole
    decimals as integers, bytes in hex."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return str(value)
