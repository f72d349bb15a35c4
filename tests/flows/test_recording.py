"""The recorder loses nothing, doubles nothing and tells of failures."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from taskloom.flows.running.recording import Recorder
from taskloom.resources.record import Record
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.task import Rejection
from taskloom.warehouse.records import ModelCallRecord
from taskloom.warehouse.store import Warehouse
from tests.limits import LONGEST_SECONDS


class Item(Record):
    number: int


class Other(Record):
    number: int


class MemorySink:
    """A sink that may be told to fail."""

    def __init__(self) -> None:
        self.batches: list[list[Record]] = []
        self.full = False

    def write(self, records: Sequence[Record], replace: bool = False) -> None:
        if self.full:
            raise OSError("no space left on device")
        self.batches.append(list(records))

    @property
    def records(self) -> list[Record]:
        return [record for batch in self.batches for record in batch]


async def test_commits_when_a_batch_is_full_and_the_rest_at_the_end() -> None:
    sink = MemorySink()
    recorder = Recorder(sink, batch_size=3, interval_seconds=3600)
    for number in range(7):
        await recorder.record(Item(number=number))
    assert [len(batch) for batch in sink.batches] == [3, 3]
    await recorder.close()
    assert sink.records == [Item(number=number) for number in range(7)]


async def test_commits_after_a_while_without_being_asked() -> None:
    sink = MemorySink()
    recorder = Recorder(sink, interval_seconds=0.001)
    await recorder.record(Item(number=1))
    async with asyncio.timeout(LONGEST_SECONDS):
        while not sink.batches:
            await asyncio.sleep(0.001)
    await recorder.close()
    assert sink.records == [Item(number=1)]


async def test_keeps_records_of_a_failed_commit_and_raises_at_the_next_one() -> None:
    sink = MemorySink()
    sink.full = True
    recorder = Recorder(sink, batch_size=2, interval_seconds=3600)
    await recorder.record(Item(number=1))
    with pytest.raises(OSError, match="no space"):
        await recorder.record(Item(number=2))
    sink.full = False
    await recorder.record(Item(number=3))
    await recorder.close()
    assert sink.records == [Item(number=1), Item(number=2), Item(number=3)]


async def test_replaced_records_go_in_one_commit_each_id_as_it_was_last() -> None:
    sink = MemorySink()
    recorder = Recorder(sink, interval_seconds=3600)
    for number in (1, 2, 1):
        await recorder.record(Item(number=number), replace=True)
        await recorder.record(Other(number=number))
    await recorder.close()
    assert sink.batches == [
        [Other(number=1), Other(number=2), Other(number=1)],
        [Item(number=1), Item(number=2)],
    ]


async def test_records_are_told_apart_by_the_key_of_their_table_not_by_their_first_field() -> None:
    sink = MemorySink()
    recorder = Recorder(sink, interval_seconds=3600)
    calls = [
        ModelCallRecord(
            call_id=f"{key}:run", key=key, role=ModelRole.ACTOR, provider="offline", model="rules"
        )
        for key in ("a", "b")
    ]
    for call in (*calls, calls[0]):
        await recorder.record(call, replace=True)
    await recorder.close()
    assert sink.batches == [calls]


async def test_rejections_are_recorded_among_records_that_replace_others(tmp_path: Path) -> None:
    said = [
        Rejection(item_kind="replay", item_id="a", stage="replay", reason="failed", message=message)
        for message in ("this", "that", "this")
    ]
    with Warehouse(tmp_path / "warehouse") as stored:
        recorder = Recorder(stored, interval_seconds=3600)
        for rejection in said:
            await recorder.record(rejection, replace=True)
        await recorder.close()
        assert {item.message for item in stored.read(Rejection)} == {"this", "that"}
        assert stored.count(Rejection) == 2
    assert recorder.rejections[("replay", "failed")] == 3


class SlowSink(MemorySink):
    """A sink whose first commit takes until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go = threading.Event(), threading.Event()

    def write(self, records: Sequence[Record], replace: bool = False) -> None:
        self.begun.set()
        assert self.go.wait(10)
        super().write(records, replace)


async def test_those_who_wait_for_a_commit_share_the_next_one() -> None:
    sink = SlowSink()
    recorder = Recorder(sink, batch_size=2, interval_seconds=3600)
    items = [asyncio.create_task(recorder.record(Item(number=number))) for number in range(40)]
    await asyncio.to_thread(sink.begun.wait, 10)
    await asyncio.sleep(0)
    sink.go.set()
    await asyncio.gather(*items)
    await recorder.close()
    assert len(sink.records) == 40
    assert len(sink.batches) == 2
