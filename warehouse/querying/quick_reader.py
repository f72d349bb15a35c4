"""Reads a warehouse without loading the records: what `taskloom sql` needs, in half the time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol, TypeVar

import duckdb
import pyarrow as pa

from taskloom.warehouse.querying.asking import Bound, ask
from taskloom.warehouse.querying.query_result import QueryResult
from taskloom.warehouse.storage.database import LAKE, connect_reader, retried
from taskloom.warehouse.storage.known_schema import is_known
from taskloom.warehouse.storage.locations import Location, parse_location

T = TypeVar("T")
_ROWS: Final = 1000


class Streams(Protocol):
    """What answers a query in parts; `Warehouse` does too."""

    def stream(
        self,
        sql: str,
        take: Callable[[pa.RecordBatchReader], T],
        parameters: Bound,
        timeout_seconds: float | None = None,
        rows: int = ...,
    ) -> T:
        """What `take` makes of the answer to `sql`, `rows` at a time."""


def first_rows(
    stored: Streams,
    sql: str,
    parameters: Bound,
    timeout_seconds: float | None,
    most_rows: int | None,
    most_bytes: int | None,
) -> tuple[QueryResult, bool]:
    """The first rows of the answer to `sql`, and whether there are more; see `QueryResult.first`."""
    return stored.stream(
        sql,
        lambda reader: QueryResult.first(reader, most_rows, most_bytes),
        parameters,
        timeout_seconds,
        _ROWS,
    )


class QuickReader:
    """The present state of a warehouse whose schema is known to be the present one."""

    def __init__(self, location: Location, connection: duckdb.DuckDBPyConnection) -> None:
        """Use `connection`, which `open_quickly` made."""
        self._location = location
        self._connection = connection

    def stream(
        self,
        sql: str,
        take: Callable[[pa.RecordBatchReader], T],
        parameters: Bound,
        timeout_seconds: float | None = None,
        rows: int = _ROWS,
    ) -> T:
        """What `take` makes of the answer to `sql`, as `Warehouse.stream` gives it."""
        return ask(
            (self._connection.cursor(), LAKE),
            self._location,
            sql,
            parameters,
            lambda found: take(found.to_arrow_reader(rows)),
            timeout_seconds,
        )


def open_quickly(address: str) -> QuickReader | None:
    """A reader of the warehouse at `address`; None where only `Warehouse` knows how to read it.

    Raises:
        WarehouseMissingError, WarehouseUnavailableError: it cannot be opened.
    """
    location = parse_location(address)
    connection = connect_reader(location)
    if retried(lambda: is_known(connection), location):
        return QuickReader(location, connection)
    connection.close()
    return None
