"""Batch mode: collects calls, submits them together, and returns each answer to its caller. A journal in the
ledger records which call is in which batch.
"""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from taskloom.model_clients.client import BatchAnswer, BatchClient, BatchState
from taskloom.model_clients.errors import ConnectionLostError, ModelClientError, RequestRejectedError
from taskloom.model_clients.ledger.budget import CallCounters
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.messages import ModelReply, ModelRequest
from taskloom.model_clients.settings import BatchSettings


class BatchJournal:
    """The batches of one model, in the ledger's tables."""

    def __init__(self, ledger: Ledger, place: str) -> None:
        """Use the batches of `place`: the provider, server and model that they were submitted to."""
        self._ledger, self._place = ledger, place

    def batch_of(self, key: str) -> str | None:
        """The batch that contains a call; None if there is none."""
        query = (
            "SELECT batch_id FROM batch_requests JOIN batches USING (batch_id) WHERE key = ? AND place = ?"
        )
        rows = self._ledger.select(query, (key, self._place))
        return str(rows[0][0]) if rows else None

    async def record_batch(self, batch_id: str, keys: Sequence[str]) -> None:
        """Record a submitted batch; returns once the record is on disk."""

        def write(connection: sqlite3.Connection) -> None:
            batch = (batch_id, self._place, time.time())
            connection.execute("INSERT OR REPLACE INTO batches VALUES (?, ?, ?)", batch)
            members = [(key, batch_id) for key in keys]
            connection.executemany("INSERT OR REPLACE INTO batch_requests VALUES (?, ?)", members)

        await self._ledger.writer.run(write)

    async def forget(self, batch_id: str, key: str) -> None:
        """Remove a call that the batch did not answer, so that it may go into another."""
        statement = "DELETE FROM batch_requests WHERE key = ? AND batch_id = ?"
        await self._ledger.writer.run(lambda connection: connection.execute(statement, (key, batch_id)))


logger = logging.getLogger(__name__)

_MAX_FAILED_POLLS = 20
_LONGEST_WAIT_SECONDS = 300.0


KeepLease = Callable[[], Awaitable[None]]
"""Renews the lease of a call."""


@dataclass(frozen=True, slots=True)
class _QueuedCall:
    key: str
    request: ModelRequest
    batch_id: asyncio.Future[str]


@dataclass(slots=True)
class Batcher:
    """Calls of one model through its provider's batch interface.

    A batch is submitted when it is full or when no further call has arrived for a while. The journal records
    which call is in which batch, so a run restarted after a kill collects the earlier batches instead of
    paying again. Calls that expired or failed transiently go into another batch, up to the configured number
    of rounds.
    """

    client: BatchClient
    settings: BatchSettings
    journal: BatchJournal
    counters: CallCounters
    _queue: list[_QueuedCall] = field(default_factory=list)
    _timer: asyncio.TimerHandle | None = None
    _submissions: set[asyncio.Task[None]] = field(default_factory=set)
    _batches: dict[str, asyncio.Task[dict[str, BatchAnswer]]] = field(default_factory=dict)

    async def reply(self, key: str, request: ModelRequest, keep_lease: KeepLease) -> ModelReply:
        """The reply to a call, once its batch has ended; until then, the lease of the call is renewed."""
        self.counters.waiting += 1
        try:
            for rounds_left in reversed(range(self.settings.rounds)):
                try:
                    batch_id = self.journal.batch_of(key) or await self._join_batch(key, request)
                except ModelClientError as error:
                    problem = error
                else:
                    answer = (await self._answers(batch_id, keep_lease)).get(key)
                    if isinstance(answer, ModelReply):
                        return answer
                    message = f"batch {batch_id} ended without an answer to this call"
                    problem = answer or ConnectionLostError(message)
                    if problem.transient:
                        await self.journal.forget(batch_id, key)
                if not problem.transient or not rounds_left:
                    raise problem
            raise AssertionError("a call goes into at least one batch")
        finally:
            self.counters.waiting -= 1

    async def close(self) -> None:
        """Stop polling; the batches continue at the provider and are collected by the next run."""
        if self._timer is not None:
            self._timer.cancel()
        tasks = (*self._submissions, *self._batches.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _join_batch(self, key: str, request: ModelRequest) -> str:
        """Submit the call in a batch with others that arrive; returns the id of the batch."""
        loop = asyncio.get_running_loop()
        call = _QueuedCall(key, request, loop.create_future())
        self._queue.append(call)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if len(self._queue) >= self.settings.largest:
            self._submit_queue()
        else:
            self._timer = loop.call_later(self.settings.gather_seconds, self._submit_queue)
        return await call.batch_id

    def _submit_queue(self) -> None:
        self._timer = None
        calls = [call for call in self._queue if not call.batch_id.cancelled()]
        self._queue.clear()
        if calls:
            task = asyncio.ensure_future(self._submit(calls))
            self._submissions.add(task)
            task.add_done_callback(self._submissions.discard)

    async def _submit(self, calls: Sequence[_QueuedCall]) -> None:
        failed: ModelClientError | None = None
        try:
            batch_id = await self.client.submit_batch([(call.key, call.request) for call in calls])
            await self.journal.record_batch(batch_id, [call.key for call in calls])
            logger.info("submitted batch %s of %d calls", batch_id, len(calls))
        except ModelClientError as error:
            failed = error
        for call in calls:
            if call.batch_id.cancelled():
                continue
            if failed is None:
                call.batch_id.set_result(batch_id)
            else:
                call.batch_id.set_exception(failed)

    async def _answers(self, batch_id: str, keep_lease: KeepLease) -> dict[str, BatchAnswer]:
        """The answers of a batch, collected once for all of its calls."""
        task = self._batches.get(batch_id)
        if task is None:
            task = self._batches[batch_id] = asyncio.ensure_future(self._collect(batch_id))
            task.add_done_callback(lambda done: self._drop_failed(batch_id, done))
        while not task.done():
            await asyncio.wait({task}, timeout=self.settings.poll_seconds)
            await keep_lease()
        return task.result()

    def _drop_failed(self, batch_id: str, task: asyncio.Task[dict[str, BatchAnswer]]) -> None:
        if task.cancelled() or task.exception():
            del self._batches[batch_id]

    async def _collect(self, batch_id: str) -> dict[str, BatchAnswer]:
        state = await self._wait_for_end(batch_id)
        answers = {key: answer async for key, answer in self.client.batch_answers(batch_id)}
        if not answers and state.message:
            raise RequestRejectedError(f"batch {batch_id} was not accepted: {state.message}")
        logger.info("batch %s ended: %d answers", batch_id, len(answers))
        return answers

    async def _wait_for_end(self, batch_id: str) -> BatchState:
        failed = 0
        while True:
            try:
                state = await self.client.batch_state(batch_id)
                failed = 0
                if state.ended:
                    return state
            except ModelClientError as error:
                failed += 1
                if not error.transient or failed > _MAX_FAILED_POLLS:
                    raise
            await asyncio.sleep(min(_LONGEST_WAIT_SECONDS, self.settings.poll_seconds * (1 + failed)))
