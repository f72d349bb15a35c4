"""One process at a time."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock on the file `path`, which is made where it is missing; waits while another process holds it.

    The system gives the lock back when its holder ends, however it ends.

    Raises:
        OSError: the file cannot be made.
    """
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
