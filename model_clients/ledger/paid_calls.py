"""Makes a call once: from the ledger if it is there, else by one process, one time, inside the budget."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field

from model_clients.batches.request_files import ReplyFile, RequestFile
from model_clients.errors import (
    BatchPendingError,
    BudgetInvalidError,
    ModelClientError,
    RunStoppedError,
)
from model_clients.ledger.accounts import RunAccount
from model_clients.ledger.budget import Amount
from model_clients.ledger.call_records import CallRecord, Purpose, call_record
from model_clients.ledger.prices import cost_of, highest_amount, prices_of
from model_clients.ledger.request_keys import request_key
from model_clients.limits.limiter import Priority
from model_clients.limits.senders import Senders
from model_clients.messages import ModelReply, ModelRequest
from model_clients.settings import CallSettings, ModelSettings

logger = logging.getLogger(__name__)

_LEASE_SECONDS = 900.0
_LEASE_FRESH_SECONDS = 60.0
_KEEPING_SECONDS = 1.0
_FIRST_LOOK_SECONDS = 0.05
_LONGEST_LOOK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Call:
    """One call to be made."""

    settings: ModelSettings
    """The model."""
    request: ModelRequest
    """What is asked."""
    priority: Priority
    """Its place in the queue."""
    purpose: Purpose = "first"
    """Why it is made."""
    fallback: int = 0
    """Which fallback model it goes to, or zero."""


@dataclass(slots=True)
class PaidCalls:
    """Answers calls from the ledger, and pays for those that are not there."""

    settings: CallSettings
    """Settings of model calls."""
    account: RunAccount
    """What the calls are booked to."""
    senders: Senders
    """Who sends."""
    asked: RequestFile | None = None
    """Where calls of the batch roles are written to instead of being sent."""
    answered: ReplyFile | None = None
    """Replies that came in a file."""
    _running: dict[str, asyncio.Task[ModelReply]] = field(default_factory=dict)
    _without_price: set[str] = field(default_factory=set)

    async def reply(self, call: Call) -> ModelReply:
        """The reply, on the disk before it is returned; equal calls at the same time are one call.

        A caller that is cancelled leaves the call going, so that what is paid for is kept.

        Raises:
            ReplyMissingError: only the ledger may answer, and it cannot.
            BatchPendingError: the call was written to a file and waits for its answer.
            BudgetExhaustedError: the call could exceed the budget.
            ModelClientError: the call was given up.
        """
        key = request_key(call.settings, call.request)
        running = self._running.get(key)
        if running is None:
            found = self.account.ledger.find(key)
            if found is not None:
                self._count_found(call)
                return found
            if self.account.replay:
                name = f"{call.settings.provider}/{call.settings.model}"
                raise self.account.missing(key, call.request, f"{name}, {call.purpose}")
            self._write_down(key, call)
            running = asyncio.create_task(self._pay(key, call), name=f"model call {key[:12]}")
            self._running[key] = running
            running.add_done_callback(lambda task: self._forget(key, task))
            return await asyncio.shield(running)
        reply = await asyncio.shield(running)
        self._count_found(call)
        return reply.model_copy(update={"from_ledger": True})

    async def finish(self, seconds: float) -> None:
        """Send nothing more, wait so long for calls on the wire, so that what is paid for is kept; cancel the rest."""
        self.senders.stop()
        end = asyncio.get_running_loop().time() + seconds
        while (
            self._running
            and self.account.counters.in_flight
            and (left := end - asyncio.get_running_loop().time()) > 0
        ):
            await asyncio.wait(set(self._running.values()), timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if self._running:
            _, pending = await asyncio.wait(
                set(self._running.values()), timeout=min(seconds, _KEEPING_SECONDS)
            )
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)

    async def _pay(self, key: str, call: Call) -> ModelReply:
        found = await self._take_lease(key, _LEASE_SECONDS + call.settings.total_seconds)
        if found is not None:
            self._count_found(call)
            return found
        recorded, leased_at = False, asyncio.get_running_loop().time()
        try:
            highest = self._highest(call)
            self.account.counters.waiting += 1
            try:
                await self.account.budget.reserve(call.request.stage, highest)
            finally:
                self.account.counters.waiting -= 1
            used = Amount()
            try:
                reply = self._priced(call, await self._sent(key, call, leased_at))
                used = Amount(reply.cost_usd, reply.usage.input_tokens + reply.usage.output_tokens)
                await self.account.ledger.record(self._record(key, call, reply), call.request, reply)
                recorded = True
            finally:
                await self.account.budget.settle(call.request.stage, highest, used)
        finally:
            if not recorded:
                await self.account.ledger.release(key)
        for counters in self.account.counters.of(call.request.stage):
            counters.add(reply)
        return reply

    async def _sent(self, key: str, call: Call, leased_at: float) -> ModelReply:
        async def keep_lease() -> None:
            nonlocal leased_at
            now = asyncio.get_running_loop().time()
            if now - leased_at > _LEASE_FRESH_SECONDS:
                leased_at = now
                await self.account.ledger.lease(key, _LEASE_SECONDS + call.settings.total_seconds)

        try:
            reply = self.answered.reply(key, call.settings) if self.answered is not None else None
            if reply is not None:
                return reply
            batcher = self.senders.batcher(call.settings) if self._batched(call) else None
            if batcher is not None:
                return await batcher.reply(key, call.request, keep_lease)
            return await self.senders.of(call.settings).send(call.request, call.priority, keep_lease)
        except RunStoppedError:
            raise
        except ModelClientError as error:
            for counters in self.account.counters.of(call.request.stage):
                counters.failed += 1
            await self.account.ledger.record(self._record(key, call, error), call.request, None)
            raise

    def _batched(self, call: Call) -> bool:
        return self.settings.batched(call.request.model_role)

    def _write_down(self, key: str, call: Call) -> None:
        if self.asked is None or not self._batched(call):
            return
        if self.answered is not None and key in self.answered:
            return
        self.asked.add(key, call.settings, call.request)
        raise BatchPendingError(
            f"the call for {call.request.stage} {call.request.item_id} was written to {self.asked.path};"
            " have it answered and run again with the file of replies"
        )

    async def _take_lease(self, key: str, seconds: float) -> ModelReply | None:
        """None when the call is ours to make, else the reply that another process got meanwhile."""
        look = _FIRST_LOOK_SECONDS
        while not await self.account.ledger.lease(key, seconds):
            self.account.counters.waiting += 1
            try:
                await asyncio.sleep(look)
            finally:
                self.account.counters.waiting -= 1
            look = min(_LONGEST_LOOK_SECONDS, look * 2)
            found = self.account.ledger.find(key)
            if found is not None:
                return found
        found = self.account.ledger.find(key)
        if found is not None:
            await self.account.ledger.release(key)
        return found

    def _highest(self, call: Call) -> Amount:
        prices = prices_of(call.settings)
        name = f"{call.settings.provider}/{call.settings.model}"
        if prices is None and self.account.budget.limits_money:
            raise BudgetInvalidError(
                f"no price is known for {name}, so a budget in money cannot be kept;"
                " set `prices` for the model, or give the budget in tokens"
            )
        if prices is None and name not in self._without_price:
            self._without_price.add(name)
            logger.warning("no price is known for %s: its calls are recorded with cost_known = false", name)
        estimate = self.senders.estimates.of(call.settings, call.request)
        return highest_amount(
            prices, estimate.highest_input_tokens, estimate.highest_output_tokens, batched=False
        )

    @staticmethod
    def _priced(call: Call, reply: ModelReply) -> ModelReply:
        prices = prices_of(call.settings)
        if prices is None:
            return reply.model_copy(update={"cost_known": False})
        return reply.model_copy(update={"cost_usd": cost_of(prices, reply.usage, batched=reply.batched)})

    def _record(self, key: str, call: Call, result: ModelReply | ModelClientError) -> CallRecord:
        return call_record(
            key,
            call.request,
            result,
            provider=call.settings.provider,
            model=call.settings.model,
            base_url=call.settings.base_url,
            run_id=self.account.run_id,
            purpose=call.purpose,
            fallback=call.fallback,
        )

    def _count_found(self, call: Call) -> None:
        for counters in self.account.counters.of(call.request.stage):
            counters.from_ledger += 1

    def _forget(self, key: str, task: asyncio.Task[ModelReply]) -> None:
        del self._running[key]
        if not task.cancelled():
            task.exception()
