"""Records of a run, written in batches without delaying the items in progress; and the record of the run
itself, which is new, or resumed by a run with equal settings."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version as distribution_version
from typing import TYPE_CHECKING, Protocol

from pydantic import JsonValue

from taskloom.flows.running.clock import now, timestamp
from taskloom.resources.record import Record
from taskloom.taskgraph.records.task import Rejection
from taskloom.warehouse.records import RunRecord
from taskloom.warehouse.schema import TABLE_OF_RECORD
from taskloom.warehouse.store import Warehouse

if TYPE_CHECKING:
    from taskloom.flows.settings import Settings

PLACE_ONLY = frozenset({"environments", "browser", "data", "fan_out"})
"""Settings that determine only where and how fast a run works."""
CALLS_ONLY = frozenset({"budget", "batch", "retries"})
"""Settings of `models` that determine how calls are answered and what they may cost."""


class RecordSink(Protocol):
    """Anything that stores records in one atomic commit."""

    def write(self, records: Sequence[Record], replace: bool = False) -> None:
        """Store all records or none; with `replace`, rows with the same id are replaced."""
        ...


class Recorder:
    """Collects records and commits them every few seconds, or when there are many.

    The error of a failed commit is raised by the next `record` or `flush`, so no run continues for long after
    one; its records are kept for another try.
    """

    def __init__(self, sink: RecordSink, *, batch_size: int = 500, interval_seconds: float = 2.0) -> None:
        """Write to `sink` after `batch_size` records or `interval_seconds`."""
        self._sink = sink
        self._batch_size = batch_size
        self._interval = interval_seconds
        self._waiting: list[tuple[Record, bool]] = []
        self._queued = self._written = 0
        self._commit_lock = asyncio.Lock()
        self._failure: Exception | None = None
        self.rejections: Counter[tuple[str, str]] = Counter()
        """Rejections that were recorded here, by stage and reason."""
        self._ticker: asyncio.Task[None] | None = None

    async def record(self, *records: Record, replace: bool = False) -> None:
        """Queue records for the next commit; with `replace`, they replace rows with the same ids."""
        if self._failure is not None:
            raise self._failure
        self._waiting.extend((record, replace) for record in records)
        self._queued += len(records)
        self.rejections.update(
            (record.stage, record.reason) for record in records if isinstance(record, Rejection)
        )
        if self._ticker is None:
            self._ticker = asyncio.create_task(self._tick())
        if len(self._waiting) >= self._batch_size:
            await self.flush()

    async def flush(self) -> None:
        """Commit everything queued so far; concurrent callers share one commit."""
        target = self._queued
        async with self._commit_lock:
            if self._written >= target:
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
        latest = {_row_of(record): record for record, replace in batch if replace}
        if latest:
            self._sink.write(list(latest.values()), True)


def _row_of(record: Record) -> tuple[type[Record], object]:
    """Class and key of the row that the record replaces; its whole content if its fields hold no key."""
    table = TABLE_OF_RECORD.get(type(record))
    if table and set(table.key) <= set(type(record).model_fields):
        return (type(record), tuple(getattr(record, name) for name in table.key))
    return (type(record), record.model_dump_json())


def begin_or_resume(warehouse: Warehouse, settings: Settings, flow: str) -> RunRecord:
    """Store the record of a new run, or resume an unfinished one with equal settings; returns the record."""
    content: dict[str, JsonValue] = json.loads(settings.model_dump_json())
    for record in warehouse.read(RunRecord, "flow = ? AND status <> 'completed'", [flow]):
        if identity(record.settings) == identity(content):
            resumed = record.model_copy(
                update={"status": "running", "finished_at": "", "message": "", "settings": content}
            )
            warehouse.write([resumed], replace=True)
            return resumed
    record = RunRecord(
        run_id=f"{now():%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:6]}",
        flow=flow,
        started_at=timestamp(),
        seed=settings.seed,
        settings=content,
        software_version=distribution_version("taskloom"),
    )
    warehouse.write([record])
    return record


def identity(settings: Mapping[str, JsonValue]) -> str:
    """What two runs must have in common for one to resume the other; budgets and retries are ignored."""
    models = settings.get("models")
    if isinstance(models, dict):
        models = {name: value for name, value in models.items() if name not in CALLS_ONLY}
    content = {name: value for name, value in settings.items() if name not in PLACE_ONLY | {"models"}}
    return json.dumps([content, models], sort_keys=True)
