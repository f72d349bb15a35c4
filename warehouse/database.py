"""Connections to the warehouse: one that writes, and guarded ones that can only ask.

The lake is attached as `taskloom`. DuckDB's extensions come from installed wheels and are checked against DuckDB's own
signature at load; only where a wheel is absent does DuckDB fetch the extension itself.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TypeVar

import duckdb

from warehouse.errors import WarehouseBusy, WarehouseError, WarehouseUnavailable
from warehouse.locations import Location
from warehouse.locking import WriterLock

LAKE: Final = "taskloom"
"""Name under which the lake is attached."""
_WHEELS: Final = {
    "ducklake": "duckdb_extension_ducklake",
    "sqlite_scanner": "duckdb_extension_sqlite_scanner",
    "postgres_scanner": "duckdb_extension_postgres_scanner",
    "httpfs": "duckdb_extension_httpfs",
}
_TRANSIENT: Final = (
    "database is locked",
    "transaction conflict",
    "database table is locked",
    "disk i/o error",
)
_NO_SPACE: Final = ("no space left", "disk is full", "database or disk is full", "out of disk")
_NOT_WRITABLE: Final = ("read-only file system", "permission denied", "readonly database", "cannot open file")
_ALMOST_NOTHING: Final = 256 * 1024
_BUSY_MILLISECONDS: Final = 10_000
_NEEDS_ROLL_BACK: Final = ("attempt to write a readonly database", "unable to open database file")
RETRY_SECONDS: Final = 60.0
"""How long a busy catalogue is asked again."""

T = TypeVar("T")


def connect_writer(location: Location) -> duckdb.DuckDBPyConnection:
    """A connection that may change the lake; creates the lake where there is none.

    Raises:
        WarehouseUnavailable: the place cannot be used; the message says why.
    """
    connection = _connect(location)
    options = [
        f"DATA_PATH '{_quoted(location.tables)}'",
        "OVERRIDE_DATA_PATH true",
        "DATA_INLINING_ROW_LIMIT 0",
    ]
    _attach(connection, location, options)
    return connection


def connect_reader(location: Location, snapshot_id: int | None = None) -> duckdb.DuckDBPyConnection:
    """A connection that cannot write, attach, install, or open a file outside the lake's data.

    The one door it leaves open, SQL functions that read files of the lake or bypass DuckDB's file system, is closed
    by `guard.admit`, through which every query passes first.

    Raises:
        WarehouseUnavailable: there is no warehouse at the place.
    """
    if location.folder and not (location.folder / "catalog.sqlite").exists():
        raise WarehouseUnavailable(
            f"There is no warehouse at {location.shown}. `taskloom build` or `taskloom import` makes one;"
            " TASKLOOM_WAREHOUSE names another place."
        )
    connection = _connect(location)
    options = [*_options(location), "READ_ONLY"]
    if snapshot_id is not None:
        options.append(f"SNAPSHOT_VERSION {snapshot_id}")
    _attach(connection, location, options)
    connection.execute(f"SET allowed_directories = ['{_quoted(location.tables)}']")
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def retried(
    action: Callable[[], T], location: Location, seconds: float = RETRY_SECONDS, *, roll_back: bool = True
) -> T:
    """The result of `action`, asked again while other processes hold the catalogue.

    A writer that died in the midst of a commit leaves a journal that SQLite must roll back before anyone can read, and
    a reader may not: then the catalogue is opened once for writing, which changes nothing but that.

    Raises:
        WarehouseBusy: the catalogue stayed busy.
        WarehouseUnavailable: the disk is full, or the place cannot be written.
        duckdb.Error: anything else.
    """
    deadline = time.monotonic() + seconds
    pause = 0.01
    rolled_back = not roll_back
    while True:
        try:
            return action()
        except duckdb.Error as error:
            if not rolled_back and _says(error, _NEEDS_ROLL_BACK) and _has_journal(location):
                rolled_back = True
                with WriterLock(location):
                    connect_writer(location).close()
                continue
            if not _says(error, _TRANSIENT):
                raise _mapped(error, location) from None
            if time.monotonic() >= deadline:
                raise WarehouseBusy(
                    f"The warehouse {location.shown} stayed busy for {seconds:.0f} s: {_first_line(error)}"
                ) from None
        time.sleep(pause)
        pause = min(pause * 1.5, 0.5)


def first_row(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[object] = ()
) -> tuple[object, ...] | None:
    """The first row of an answer, or None.

    All rows are fetched: an answer that is not read to its end keeps the catalogue's read lock, and a writer waiting
    for its turn would then block the one whose turn it is.
    """
    rows = connection.execute(sql, list(parameters)).fetchall()
    return rows[0] if rows else None


def _options(location: Location) -> list[str]:
    options = [f"DATA_PATH '{_quoted(location.tables)}'", "OVERRIDE_DATA_PATH true"]
    if location.folder is not None:
        options.append(f"META_BUSY_TIMEOUT {_BUSY_MILLISECONDS}")
    return options


def _connect(location: Location) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:")
    needed = ["ducklake"]
    if location.catalogue.startswith("sqlite:"):
        needed.append("sqlite_scanner")
    else:
        needed.append("postgres_scanner")
        if "://" in location.data:
            needed.append("httpfs")
    for name in needed:
        _load(connection, name)
    connection.execute("SET ducklake_max_retry_count = 50")
    connection.execute("SET preserve_insertion_order = true")
    return connection


def _load(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    wheel = find_spec(_WHEELS[name])
    try:
        if wheel is not None and wheel.origin:
            found = sorted(Path(wheel.origin).parent.rglob("*.duckdb_extension"))
            if found:
                connection.execute(f"LOAD '{_quoted(str(found[0]))}'")
                return
        connection.execute(f"INSTALL {name}")
        connection.execute(f"LOAD {name}")
    except duckdb.Error as error:
        raise WarehouseUnavailable(
            f"DuckDB's extension {name!r} cannot be loaded ({_first_line(error)}). Install the Python package"
            f" {_WHEELS[name].replace('_', '-')}=={duckdb.__version__}."
        ) from None


def _attach(connection: duckdb.DuckDBPyConnection, location: Location, options: list[str]) -> None:
    address = _quoted(f"ducklake:{location.catalogue}")
    statement = f"ATTACH '{address}' AS {LAKE} ({', '.join(options)})"
    try:
        retried(lambda: connection.execute(statement), location, roll_back="READ_ONLY" in options)
    except WarehouseError:
        raise
    except duckdb.Error as error:
        raise WarehouseUnavailable(
            f"The warehouse {location.shown} cannot be opened: {_first_line(error)}"
        ) from None
    connection.execute(f"USE {LAKE}")


def _mapped(error: duckdb.Error, location: Location) -> Exception:
    if _says(error, _NO_SPACE) or _is_full(location):
        return WarehouseUnavailable(
            f"No space is left for the warehouse {location.shown}; nothing of this write was kept, everything before"
            " it is intact. Free some space and run again."
        )
    if _says(error, _NOT_WRITABLE):
        return WarehouseUnavailable(f"The warehouse {location.shown} cannot be written: {_first_line(error)}")
    return error


def _has_journal(location: Location) -> bool:
    return location.folder is not None and (location.folder / "catalog.sqlite-journal").exists()


def _is_full(location: Location) -> bool:
    """Whether the disk is full: a failed commit does not always say so itself."""
    try:
        return location.folder is not None and shutil.disk_usage(location.folder).free < _ALMOST_NOTHING
    except OSError:
        return False


def _says(error: Exception, phrases: tuple[str, ...]) -> bool:
    text = str(error).lower()
    return any(phrase in text for phrase in phrases)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _quoted(text: str) -> str:
    return text.replace("'", "''")
