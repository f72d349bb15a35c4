"""Connections to the warehouse, writing and guarded read-only ones, and the writer lock.

The lake is attached as `taskloom`, from a local folder or from Postgres and object storage. The lock is a
file lock, or an advisory lock in the catalogue's Postgres database. It is released when its process ends,
and makes "insert what is missing" exact between processes.
"""

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

import duckdb
import pyarrow as pa
from filelock import lock_descriptor

from taskloom.warehouse.errors import (
    WarehouseBusyError,
    WarehouseError,
    WarehouseMissingError,
    WarehouseUnavailableError,
)
from taskloom.warehouse.storage.extensions import connect_with, load, needed_by, quoted
from taskloom.warehouse.storage.locations import Location, reason_of

LAKE: Final = "taskloom"
_TRANSIENT: Final = (
    "database is locked",
    "transaction conflict",
    "database table is locked",
    "disk i/o error",
    "could not serialize access",
)
_NOT_CREATED: Final = ("creating a new ducklake is explicitly disabled",)
_NO_SPACE: Final = ("no space left", "disk is full", "database or disk is full", "out of disk")
_NOT_WRITABLE: Final = ("read-only file system", "permission denied", "readonly database", "cannot open file")
_FILE_MISSING: Final = ("no such file or directory",)
_FULL_DISK_BYTES: Final = 256 * 1024
_BUSY_MILLISECONDS: Final = 10_000
_NEEDS_ROLLBACK: Final = ("attempt to write a readonly database", "unable to open database file")
_RETRY_SECONDS: Final = 60.0

T = TypeVar("T")


def connect_writer(location: Location) -> duckdb.DuckDBPyConnection:
    """A connection that may change the lake; creates the lake if there is none."""
    connection = _connect(location)
    _attach(connection, location, ["DATA_INLINING_ROW_LIMIT 0"])
    return connection


def connect_reader(location: Location, snapshot_id: int | None = None) -> duckdb.DuckDBPyConnection:
    """A connection that cannot write, attach, install, or open a file outside the lake's data.

    Functions that read files of the lake or bypass DuckDB's file system are refused by `querying.admit`.
    """
    if location.folder and not (location.folder / "catalog.sqlite").exists():
        raise _missing_warehouse(location)
    connection = _connect(location)
    options = ["READ_ONLY"]
    if location.folder is not None:
        options.append(f"META_BUSY_TIMEOUT {_BUSY_MILLISECONDS}")
    if snapshot_id is not None:
        options.append(f"SNAPSHOT_VERSION {snapshot_id}")
    _attach(connection, location, options)
    connection.execute(f"SET allowed_directories = ['{quoted(location.tables)}']")
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def retry(action: Callable[[], T], location: Location, *, roll_back: bool = True) -> T:
    """The result of `action`, retried while other processes hold the catalogue; finally `WarehouseBusyError`.
    `WarehouseUnavailableError` if the disk is full or the location is not writable.

    A writer that died during a commit leaves a journal, which only a connection for writing can roll back.
    """
    deadline = time.monotonic() + _RETRY_SECONDS
    pause = 0.01
    rolled_back = not roll_back
    while True:
        try:
            return action()
        except duckdb.Error as error:
            journal = location.folder / "catalog.sqlite-journal" if location.folder else None
            if not rolled_back and _mentions(error, _NEEDS_ROLLBACK) and journal and journal.exists():
                rolled_back = True
                with WriterLock(location):
                    connect_writer(location).close()
                continue
            if not _mentions(error, _TRANSIENT):
                raise _translate_error(error, location) from None
            if time.monotonic() >= deadline:
                raise WarehouseBusyError(
                    f"The warehouse {location.label} stayed busy for {_RETRY_SECONDS:.0f} s:"
                    f" {reason_of(error)}"
                ) from None
        time.sleep(pause)
        pause = min(pause * 1.5, 0.5)


@contextmanager
def transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """A transaction that is committed, or rolled back on any exception."""
    connection.execute("BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(duckdb.Error):
            connection.execute("ROLLBACK")
        raise


@contextmanager
def registered(connection: duckdb.DuckDBPyConnection, **tables: pa.Table) -> Iterator[None]:
    """Register tables with a connection, under their names, until the block ends."""
    for name, table in tables.items():
        connection.register(name, table)
    try:
        yield
    finally:
        for name in tables:
            connection.unregister(name)


def first_row(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[object, ...] | None:
    """The first row of the result, or None; all rows are fetched, because a partial fetch keeps the
    catalogue's read lock."""
    rows = connection.execute(sql).fetchall()
    return rows[0] if rows else None


def _connect(location: Location) -> duckdb.DuckDBPyConnection:
    connection = connect_with(needed_by(location))
    if location.data.startswith("s3://"):
        from taskloom.warehouse.storage.object_storage import give_access

        give_access(connection, location.data)
    connection.execute("SET ducklake_max_retry_count = 50")
    connection.execute("SET preserve_insertion_order = true")
    return connection


def _attach(connection: duckdb.DuckDBPyConnection, location: Location, options: list[str]) -> None:
    address = quoted(f"ducklake:{location.catalogue}")
    all_options = [f"DATA_PATH '{quoted(location.tables)}'", "OVERRIDE_DATA_PATH true", *options]
    statement = f"ATTACH '{address}' AS {LAKE} ({', '.join(all_options)})"
    # Opening runs many small catalogue queries, on which several threads spend twice the processor time.
    connection.execute("SET threads = 1")
    try:
        retry(lambda: connection.execute(statement), location, roll_back="READ_ONLY" in options)
    except WarehouseError:
        raise
    except duckdb.Error as error:
        if _mentions(error, _NOT_CREATED):
            raise _missing_warehouse(location) from None
        raise WarehouseUnavailableError(
            f"The warehouse {location.label} cannot be opened: {reason_of(error)}"
        ) from None
    connection.execute(f"USE {LAKE}")
    connection.execute("RESET threads")


def _missing_warehouse(location: Location) -> WarehouseMissingError:
    return WarehouseMissingError(
        f"There is no warehouse at {location.label}. `taskloom build` or `taskloom import` creates one;"
        " TASKLOOM_WAREHOUSE names another place."
    )


def _translate_error(error: duckdb.Error, location: Location) -> Exception:
    if _mentions(error, _NO_SPACE) or _is_full(location):
        return WarehouseUnavailableError(
            f"No space is left for the warehouse {location.label}; nothing of this write was kept, everything"
            " before it is intact. Free some space and run again."
        )
    if _mentions(error, _FILE_MISSING) and ".parquet" in str(error):
        return WarehouseUnavailableError(
            f"A file of the warehouse {location.label} is missing: {reason_of(error)}. Restore it from"
            " a copy; whatever does not need it can still be read."
        )
    if _mentions(error, _NOT_WRITABLE):
        return WarehouseUnavailableError(
            f"The warehouse {location.label} cannot be written: {reason_of(error)}"
        )
    return error


def _is_full(location: Location) -> bool:
    """Whether the disk is full, which the error of a failed commit does not always say."""
    try:
        return location.folder is not None and shutil.disk_usage(location.folder).free < _FULL_DISK_BYTES
    except OSError:
        return False


def _mentions(error: Exception, phrases: tuple[str, ...]) -> bool:
    text = str(error).lower()
    return any(phrase in text for phrase in phrases)


WAIT_SECONDS: Final = 120.0
_ADVISORY_KEY: Final = 0x7461736B6C6F6F6D
"""The number that writers of a warehouse lock: "taskloom" in ASCII."""
_KEEPALIVE: Final = "-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3"
"""Asks Postgres to notice within a minute that the machine of a session is gone."""
_held_locks: Final = threading.local()


class WriterLock:
    """Held during a commit; reentrant within a thread. `WarehouseBusyError` if other writers do not finish
    in time, `WarehouseUnavailableError` if the folder or the catalogue's database cannot be used."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._release: Callable[[], None] | None = None

    def __enter__(self) -> None:
        held: set[str] = _held_locks.__dict__.setdefault("places", set())
        if self._location.catalogue in held:
            return
        folder = self._location.folder
        self._release = self._lock_file(folder) if folder else self._lock_database()
        held.add(self._location.catalogue)

    def __exit__(self, *_: object) -> None:
        if self._release is not None:
            _held_locks.__dict__["places"].discard(self._location.catalogue)
            self._release()
            self._release = None

    def _lock_file(self, folder: Path) -> Callable[[], None]:
        try:
            file = os.open(folder / "writer.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise WarehouseUnavailableError(
                f"The warehouse {self._location.label} cannot be written: {error.strerror}"
            ) from None
        self._wait(lambda: lock_descriptor(file, blocking=False), lambda: os.close(file), pause=0.005)
        return lambda: os.close(file)

    def _lock_database(self) -> Callable[[], None]:
        session = duckdb.connect(":memory:")

        def release() -> None:
            with suppress(duckdb.Error):
                session.execute("ROLLBACK")
            session.close()

        def take() -> bool:
            sql = f"SELECT pg_try_advisory_xact_lock({_ADVISORY_KEY}) AS taken"
            return session.execute("SELECT taken FROM postgres_query('turns', ?)", [sql]).fetchall() == [
                (True,)
            ]

        try:
            load(session, "postgres_scanner")
            connection = f"{self._location.connection} options='{_KEEPALIVE}'".replace("'", "''")
            session.execute(f"ATTACH '{connection}' AS turns (TYPE postgres, READ_ONLY)")
            session.execute("BEGIN")
            self._wait(take, release, pause=0.02)
        except duckdb.Error as error:
            release()
            raise WarehouseUnavailableError(
                f"The catalogue of {self._location.label} cannot be reached: {reason_of(error)}"
            ) from None
        except WarehouseUnavailableError:
            release()
            raise
        return release

    def _wait(self, take: Callable[[], bool], give_up: Callable[[], None], pause: float) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while not take():
            if time.monotonic() > deadline:
                give_up()
                raise WarehouseBusyError(
                    f"Another process has been writing to {self._location.label} for {WAIT_SECONDS:.0f} s."
                )
            time.sleep(pause)
