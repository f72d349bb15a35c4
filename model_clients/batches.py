"""Batch mode: collects calls, submits them together, and hands each answer to its caller. A journal in the
ledger remembers which call is in which batch.
"""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from taskloom.model_clients.client import BatchAnswer, BatchClient, BatchState
from taskloom.model_clients.counters import CallCounters
from taskloom.model_clients.errors import ConnectionLostError, ModelClientError, RequestRejectedError
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.messages import ModelReply, ModelRequest
from taskloom.model_clients.settings import BatchSettings


class BatchJournal:
    """The batches of one model, in the ledger's tables."""

    def __init__(self, ledger: Ledger, place: str) -> None:
        """Use the batches of `place`: the provider, server and model they were submitted to."""
        self._ledger, self._place = ledger, place

    def batch_of(self, key: str) -> str | None:
        """The batch in which a call was submitted; None if there is none."""
        known = (
            "SELECT batch_id FROM batch_requests JOIN batches USING (batch_id) WHERE key = ? AND place = ?"
        )
        rows = self._ledger.select(known, (key, self._place))
        return str(rows[0][0]) if rows else None

    async def submitted(self, batch_id: str, keys: Sequence[str]) -> None:
        """Record a submitted batch; returns once the record is on disk."""

        def write(connection: sqlite3.Connection) -> None:
            batch = (batch_id, self._place, time.time())
            connection.execute("INSERT OR REPLACE INTO batches VALUES (?, ?, ?)", batch)
            members = [(key, batch_id) for key in keys]
            connection.executemany("INSERT OR REPLACE INTO batch_requests VALUES (?, ?)", members)

        await self._ledger.writer.done(write)

    async def forget(self, batch_id: str, keys: Iterable[str]) -> None:
        """Remove calls that the batch did not answer, so that they may go into another."""
        statement = "DELETE FROM batch_requests WHERE key = ? AND batch_id = ?"
        gone = [(key, batch_id) for key in keys]
        await self._ledger.writer.done(lambda connection: connection.executemany(statement, gone))


logger = logging.getLogger(__name__)

_MOST_FAILED_LOOKS = 20
_LONGEST_WAIT_SECONDS = 300.0


@dataclass(slots=True)
class _Waiting:
    request: ModelRequest
    keep_lease: Callable[[], Awaitable[None]]
    answer: asyncio.Future[ModelReply]
    round: int = 0


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
    _waiting: dict[str, _Waiting] = field(default_factory=dict)
    _gathered: list[str] = field(default_factory=list)
    _timer: asyncio.TimerHandle | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _watched: dict[str, set[str]] = field(default_factory=dict)
    _collected: dict[str, dict[str, BatchAnswer]] = field(default_factory=dict)

    async def reply(
        self, key: str, request: ModelRequest, keep_lease: Callable[[], Awaitable[None]]
    ) -> ModelReply:
        """The reply to a call, once its batch has ended; meanwhile, the right to make it is renewed."""
        waiting = _Waiting(request, keep_lease, asyncio.get_running_loop().create_future())
        self._waiting[key] = waiting
        self.counters.waiting += 1
        try:
            batch_id = self.journal.batch_of(key)
            if batch_id is None:
                self._gather(key)
            else:
                self._watch(batch_id, {key})
            return await waiting.answer
        finally:
            self.counters.waiting -= 1
            self._waiting.pop(key, None)

    async def close(self) -> None:
        """Stop polling; the batches continue at the provider and are collected by the next run."""
        if self._timer is not None:
            self._timer.cancel()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _gather(self, key: str) -> None:
        self._gathered.append(key)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if len(self._gathered) >= self.settings.largest:
            self._hand_in()
        else:
            self._timer = asyncio.get_running_loop().call_later(self.settings.gather_seconds, self._hand_in)

    def _hand_in(self) -> None:
        self._timer = None
        keys = [key for key in self._gathered if key in self._waiting]
        self._gathered.clear()
        if keys:
            self._start(self._submit(keys))

    def _watch(self, batch_id: str, keys: set[str]) -> None:
        if batch_id in self._collected:
            self._distribute(batch_id, keys)
        elif batch_id in self._watched:
            self._watched[batch_id] |= keys
        else:
            self._watched[batch_id] = set(keys)
            self._start(self._follow(batch_id))

    def _start(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _submit(self, keys: list[str]) -> None:
        requests = [(key, self._waiting[key].request) for key in keys if key in self._waiting]
        try:
            batch_id = await self.client.submit_batch(requests)
            await self.journal.submitted(batch_id, [key for key, _ in requests])
        except ModelClientError as error:
            for key in keys:
                self._take_error(key, error)
            return
        logger.info("handed in batch %s of %d calls", batch_id, len(requests))
        self._watch(batch_id, set(keys))

    async def _follow(self, batch_id: str) -> None:
        try:
            state = await self._ended(batch_id)
            answers = {key: answer async for key, answer in self.client.batch_answers(batch_id)}
        except ModelClientError as error:
            for key in self._watched.pop(batch_id):
                self._fail(key, error)
            return
        self._collected[batch_id] = answers
        keys = self._watched.pop(batch_id)
        if not answers and state.message:
            await self.journal.forget(batch_id, keys)
            for key in keys:
                self._fail(key, RequestRejectedError(f"batch {batch_id} was not taken: {state.message}"))
            return
        missing = {
            key
            for key in keys
            if not isinstance(answer := answers.get(key), ModelReply) and (answer is None or answer.transient)
        }
        await self.journal.forget(batch_id, missing)
        told = "batch %s ended: %d answers, %d calls go into a further batch"
        logger.info(told, batch_id, len(answers), len(missing))
        self._distribute(batch_id, keys)

    async def _ended(self, batch_id: str) -> BatchState:
        failed = 0
        while True:
            try:
                state = await self.client.batch_state(batch_id)
                failed = 0
                if state.ended:
                    return state
            except ModelClientError as error:
                failed += 1
                if not error.transient or failed > _MOST_FAILED_LOOKS:
                    raise
            await asyncio.sleep(min(_LONGEST_WAIT_SECONDS, self.settings.poll_seconds * (1 + failed)))
            for key in list(self._watched[batch_id]):
                if key in self._waiting:
                    await self._waiting[key].keep_lease()

    def _distribute(self, batch_id: str, keys: set[str]) -> None:
        answers = self._collected[batch_id]
        for key in keys:
            answer = answers.get(key)
            waiting = self._waiting.get(key)
            if isinstance(answer, ModelReply):
                if waiting is not None and not waiting.answer.done():
                    waiting.answer.set_result(answer)
            else:
                lost = ConnectionLostError(f"batch {batch_id} ended without an answer to this call")
                self._take_error(key, answer or lost)

    def _take_error(self, key: str, error: ModelClientError) -> None:
        """Put the call into a further batch if that can help, else give it up."""
        waiting = self._waiting.get(key)
        if waiting is not None and error.transient:
            waiting.round += 1
        if waiting is not None and error.transient and waiting.round < self.settings.rounds:
            self._gather(key)
        else:
            self._fail(key, error)

    def _fail(self, key: str, error: ModelClientError) -> None:
        waiting = self._waiting.get(key)
        if waiting is not None and not waiting.answer.done():
            waiting.answer.set_exception(error)
