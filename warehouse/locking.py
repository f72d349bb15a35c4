"""Writers take turns: a lock that the operating system releases when its process dies."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from types import TracebackType
from typing import Final

from warehouse.errors import WarehouseBusy, WarehouseUnavailable
from warehouse.locations import Location

WAIT_SECONDS: Final = 120.0
"""How long a writer waits for its turn."""
_held: Final = threading.local()


class WriterLock:
    """Held while a commit is made; it makes "insert what is not there yet" exact between processes.

    Entering it again in the same thread does nothing. A remote warehouse has no folder to lock: there the catalogue's
    own conflict detection orders writers.

    Raises:
        WarehouseBusy: other writers did not finish in time.
        WarehouseUnavailable: the folder cannot be written.
    """

    def __init__(self, location: Location) -> None:
        """Prepare the lock of the warehouse at `location`."""
        self._location = location
        self._file: int | None = None

    def __enter__(self) -> None:
        """Wait for the turn."""
        folder = self._location.folder
        held: set[str] = _held.__dict__.setdefault("folders", set())
        if folder is None or str(folder) in held:
            return
        try:
            file = os.open(folder / "writer.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise WarehouseUnavailable(
                f"The warehouse {self._location.shown} cannot be written: {error.strerror}"
            ) from None
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    os.close(file)
                    raise WarehouseBusy(
                        f"Another process has been writing to {self._location.shown} for {WAIT_SECONDS:.0f} s."
                    ) from None
            time.sleep(0.005)
        self._file = file
        held.add(str(folder))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the turn to the next."""
        if self._file is not None:
            _held.__dict__["folders"].discard(str(self._location.folder))
            os.close(self._file)
            self._file = None
