"""Asks a read-only connection one SELECT, in a time that is given."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

import duckdb

from taskloom.warehouse.errors import QueryFailedError, TableMissingError
from taskloom.warehouse.querying.guard import admit
from taskloom.warehouse.storage.database import retried
from taskloom.warehouse.storage.locations import Location
from taskloom.warehouse.storage.storage_access import without_secrets

T = TypeVar("T")
Bound = Sequence[object] | Mapping[str, object]
"""Parameters of a statement, by position or by name."""


def ask(
    reader: tuple[duckdb.DuckDBPyConnection, str],
    location: Location,
    sql: str,
    parameters: Bound,
    take: Callable[[duckdb.DuckDBPyConnection], T],
    timeout_seconds: float | None = None,
    turn: AbstractContextManager[object] | None = None,
) -> T:
    """What `take` makes of the answer to `sql`, asked of a connection and one of its catalogues.

    The connection is closed afterwards.

    Raises:
        QueryRefusedError: the statement is no SELECT or calls a function that is not admitted.
        QueryFailedError: it does not run, or takes longer than `timeout_seconds`.
    """
    connection, catalogue = reader
    bound = dict(parameters) if isinstance(parameters, Mapping) else list(parameters)
    late = threading.Event()

    def stop() -> None:
        late.set()
        connection.interrupt()

    def attempt() -> T:
        connection.execute(f"USE {catalogue}")
        admit(connection, sql)
        return take(connection.execute(sql, bound))

    timer: threading.Timer | None = None
    if timeout_seconds is not None:
        timer = threading.Timer(timeout_seconds, stop)
        timer.start()
    try:
        with turn or nullcontext():
            return retried(attempt, location)
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
