"""Writes records to the warehouse in batches, without holding up the items in progress."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from taskloom.resources.record import Record
from taskloom.taskgraph.records.task import Rejection
from taskloom.warehouse.schema import TABLE_OF_RECORD


class RecordSink(Protocol):
    """Anything that stores records in one atomic commit."""

    def write(self, records: Sequence[Record], replace: bool = False) -> None:
        """Store all records or none; with `replace`, rows with the same id are replaced."""
        ...


class Recorder:
    """Collects records and commits them every few seconds, or when many have gathered.

    A failed commit is raised at the next `record` or `flush`, and its records are kept for another try, so no
    item goes on without its predecessors being safe.
    """

    def __init__(self, sink: RecordSink, *, batch_size: int = 500, interval_seconds: float = 2.0) -> None:
        """Write to `sink` after `batch_size` records or `interval_seconds`."""
        self._sink = sink
        self._batch_size = batch_size
        self._interval = interval_seconds
        self._waiting: list[tuple[Record, bool]] = []
        self._taken = self._written = 0
        self._commit_lock = asyncio.Lock()
        self._failure: Exception | None = None
        self.rejections: Counter[tuple[str, str]] = Counter()
        """Rejections that were recorded here, by stage and reason."""
        self._ticker: asyncio.Task[None] | None = None

    async def record(self, *records: Record, replace: bool = False) -> None:
        """Queue records for the next commit; with `replace`, they replace rows with their ids."""
        if self._failure is not None:
            raise self._failure
        self._waiting.extend((record, replace) for record in records)
        self._taken += len(records)
        self.rejections.update(
            (record.stage, record.reason) for record in records if isinstance(record, Rejection)
        )
        if self._ticker is None:
            self._ticker = asyncio.create_task(self._tick())
        if len(self._waiting) >= self._batch_size:
            await self.flush()

    async def flush(self) -> None:
        """Commit everything queued so far; concurrent callers share one commit."""
        wanted = self._taken
        async with self._commit_lock:
            if self._written >= wanted:
                return
            batch, self._waiting = self._waiting, []
            try:
                await asyncio.to_thread(self._write, batch)
            except Exception:
                self._waiting = batch + self._waiting
                raise
            self._written += len(batch)
            self._failure = None

    async def close(self) -> None:
        """Commit what is left and stop."""
        if self._ticker is not None:
            self._ticker.cancel()
            self._ticker = None
        await self.flush()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(self._interval)
            try:
                await self.flush()
            except Exception as error:
                self._failure = error

    def _write(self, batch: Sequence[tuple[Record, bool]]) -> None:
        """Two commits: new records, then replacements, with the last recorded version of each id."""
        new = [record for record, replace in batch if not replace]
        if new:
            self._sink.write(new)
        latest = {_identity(record): record for record, replace in batch if replace}
        if latest:
            self._sink.write(list(latest.values()), True)


def _identity(record: Record) -> tuple[type[Record], object]:
    """Class and key of the row that the record replaces; without a key among its fields, all that it says."""
    table = TABLE_OF_RECORD.get(type(record))
    if table and set(table.key) <= set(type(record).model_fields):
        return (type(record), tuple(getattr(record, name) for name in table.key))
    return (type(record), record.model_dump_json())
