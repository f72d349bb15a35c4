"""The only thread of a process that writes to the ledger; it groups many writes into one transaction."""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from taskloom.model_clients.errors import LedgerBrokenError

Result = TypeVar("Result")

_UPGRADE = """
ALTER TABLE calls RENAME COLUMN model_role TO role;
ALTER TABLE calls DROP COLUMN template;
ALTER TABLE calls ADD COLUMN answering_model TEXT NOT NULL DEFAULT '';
UPDATE calls SET answering_model = json_extract(reply, '$.model'), reply = json_extract(reply, '$.text')
    WHERE reply IS NOT NULL;
"""
"""Upgrades the first form of the ledger, which stored the reply's figures twice."""

_LARGEST_TRANSACTION = 200
_BUSY_SECONDS = 60.0


def open_database(path: Path) -> sqlite3.Connection:
    """A connection in write-ahead mode that any thread may use, one at a time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        return connection
    except (OSError, sqlite3.Error) as error:
        raise LedgerBrokenError(
            f"cannot open the ledger {path}: {error}; choose another path or restore the file"
        ) from error


def create_tables(connection: sqlite3.Connection) -> None:
    """Create missing tables and migrate those of an earlier taskloom."""
    script = (files("taskloom.model_clients.ledger") / "ledger_tables.sql").read_text(encoding="utf-8")
    earlier = {str(row[1]) for row in connection.execute("PRAGMA table_info(calls)")}
    upgrade = _UPGRADE if "model_role" in earlier else ""
    connection.executescript("BEGIN IMMEDIATE;" + upgrade + script + "COMMIT;")


@dataclass(frozen=True, slots=True)
class _Write:
    function: Callable[[sqlite3.Connection], Any]
    durable: bool
    future: Future[Any]


class LedgerWriter:
    """Runs writes in order, all pending ones in one transaction, and reports when they are on disk.

    One flush covers every reply that arrived during the previous flush, which keeps full durability cheap at
    many replies a second.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, or raise a `LedgerBrokenError`, and start the thread."""
        self._path = path
        self._connection = open_database(path)
        try:
            create_tables(self._connection)
        except sqlite3.Error as error:
            self._connection.close()
            raise LedgerBrokenError(f"{path} is not a ledger: {error}") from error
        self._writes: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._closed = False
        self._flushes = True
        self._thread = threading.Thread(target=self._work, name="ledger-writer", daemon=True)
        self._thread.start()

    def submit(
        self, function: Callable[[sqlite3.Connection], Result], *, durable: bool = True
    ) -> Future[Result]:
        """Run `function` in a transaction; the future is done once the transaction is on disk, or has a
        `LedgerBrokenError` if it failed, for instance on a full disk.

        A write that is not `durable` is visible to all processes at once but may be lost in a power failure.
        """
        if self._closed:
            raise LedgerBrokenError(f"the ledger {self._path} is closed")
        future: Future[Result] = Future()
        # From here on, cancelling the caller no longer cancels the write.
        future.set_running_or_notify_cancel()
        self._writes.put(_Write(function, durable, future))
        return future

    async def run(self, function: Callable[[sqlite3.Connection], Result], *, durable: bool = True) -> Result:
        """The result of `function` once it is on disk; see `submit`."""
        return await asyncio.wrap_future(self.submit(function, durable=durable))

    def close(self) -> None:
        """Finish all submitted writes and close the file. May be called twice."""
        if not self._closed:
            self._closed = True
            self._writes.put(None)
            self._thread.join()
            self._connection.close()

    def _work(self) -> None:
        while (first := self._writes.get()) is not None:
            batch = [first]
            following: _Write | None = first
            while len(batch) < _LARGEST_TRANSACTION and following and not self._writes.empty():
                following = self._writes.get()
                batch += [following] if following else []
            self._commit(batch)
            if following is None:
                return

    def _commit(self, batch: list[_Write]) -> None:
        try:
            durable = any(write.durable for write in batch)
            if durable != self._flushes:
                self._connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
                self._flushes = durable
            self._connection.execute("BEGIN IMMEDIATE")
            results = [write.function(self._connection) for write in batch]
            self._connection.execute("COMMIT")
        except Exception as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            if len(batch) > 1:
                for write in batch:
                    self._commit([write])
                return
            broken = LedgerBrokenError(f"cannot write to the ledger {self._path}: {error}")
            batch[0].future.set_exception(broken)
            return
        for write, result in zip(batch, results, strict=True):
            write.future.set_result(result)
