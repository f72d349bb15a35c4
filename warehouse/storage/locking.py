"""The writers' lock: a lock of a file, or an advisory lock in the catalogue's Postgres database.

It is released when its process ends, and makes "insert what is not there yet" exact between processes.
"""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import duckdb
from filelock import lock_descriptor

from taskloom.warehouse.errors import WarehouseBusyError, WarehouseUnavailableError
from taskloom.warehouse.storage.extensions import load
from taskloom.warehouse.storage.locations import Location
from taskloom.warehouse.storage.storage_access import reason_of

WAIT_SECONDS: Final = 120.0
_ADVISORY_KEY: Final = 0x7461736B6C6F6F6D
"""The number that writers of a warehouse lock: "taskloom" in ASCII."""
_KEEPALIVE: Final = "-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3"
"""Asks Postgres to notice within a minute that the machine of a session is gone."""
_held: Final = threading.local()


class WriterLock:
    """Held during a commit; reentrant within a thread. `WarehouseBusyError` where other writers do not finish
    in time, `WarehouseUnavailableError` where the folder or the catalogue's database cannot be used."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._release: Callable[[], None] | None = None

    def __enter__(self) -> None:
        held: set[str] = _held.__dict__.setdefault("places", set())
        if self._location.catalogue in held:
            return
        folder = self._location.folder
        self._release = self._lock_file(folder) if folder else self._lock_database()
        held.add(self._location.catalogue)

    def __exit__(self, *_: object) -> None:
        if self._release is not None:
            _held.__dict__["places"].discard(self._location.catalogue)
            self._release()
            self._release = None

    def _lock_file(self, folder: Path) -> Callable[[], None]:
        try:
            file = os.open(folder / "writer.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise WarehouseUnavailableError(
                f"The warehouse {self._location.shown} cannot be written: {error.strerror}"
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
            asked = f"SELECT pg_try_advisory_xact_lock({_ADVISORY_KEY}) AS taken"
            return session.execute("SELECT taken FROM postgres_query('turns', ?)", [asked]).fetchall() == [
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
                f"The catalogue of {self._location.shown} cannot be reached: {reason_of(error)}"
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
                    f"Another process has been writing to {self._location.shown} for {WAIT_SECONDS:.0f} s."
                )
            time.sleep(pause)
