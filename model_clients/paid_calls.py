"""Makes each call once: the ledger answers it if possible; otherwise one process makes it within the
budget."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from taskloom.model_clients.errors import ModelClientError, RunStoppedError
from taskloom.model_clients.ledger.budget import Amount, RunAccount, cost_of, highest_amount, prices_of
from taskloom.model_clients.ledger.ledger import Ledger, call_record, request_key
from taskloom.model_clients.limiter import Priority
from taskloom.model_clients.messages import ModelReply, ModelRequest
from taskloom.model_clients.senders import Senders
from taskloom.model_clients.settings import CallSettings, ModelSettings
from taskloom.taskgraph.records.model_calls import CallPurpose

logger = logging.getLogger(__name__)

_LEASE_SECONDS = 900.0
_LEASE_FRESH_SECONDS = 60.0
_KEEPING_SECONDS = 1.0
_FIRST_POLL_SECONDS = 0.05
_LONGEST_POLL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Call:
    """One request to one model, with what the queue and the ledger need."""

    settings: ModelSettings
    request: ModelRequest
    priority: Priority
    purpose: CallPurpose = "first"
    fallback: int = 0
    """Number of the fallback model; zero for the first model."""

    @property
    def model_name(self) -> str:
        """Provider and model, for messages."""
        return f"{self.settings.provider}/{self.settings.model}"

    @property
    def description(self) -> str:
        """Model, role, stage and item, for messages."""
        return f"{self.model_name} as {self.request.role} for {self.request.stage} {self.request.item_id}"


@dataclass(slots=True)
class _Lease:
    """The exclusive right of this process to make a call."""

    ledger: Ledger
    key: str
    seconds: float
    _renewed_at: float = 0.0

    async def take(self) -> bool:
        self._renewed_at = asyncio.get_running_loop().time()
        return await self.ledger.lease(self.key, self.seconds)

    async def keep(self) -> None:
        if asyncio.get_running_loop().time() - self._renewed_at > _LEASE_FRESH_SECONDS:
            await self.take()


@dataclass(slots=True)
class PaidCalls:
    """Answers calls from the ledger and pays only for those it does not have."""

    settings: CallSettings
    account: RunAccount
    senders: Senders
    _running: dict[str, asyncio.Task[ModelReply]] = field(default_factory=dict)
    _without_price: set[str] = field(default_factory=set)

    def reply(self, call: Call) -> Awaitable[ModelReply]:
        """The reply, which is on disk before this returns; equal concurrent calls are made once.

        Cancelling the caller does not stop the call, so a reply that is paid for is kept.

        Raises:
            ModelClientError: the call was given up, could exceed the budget, or is missing from the
                ledger when only the ledger may answer.
        """
        key = request_key(call.settings, call.request)
        running = self._running.get(key)
        if running is None:
            stored = self.account.ledger.find(key)
            if stored is not None:
                self.account.counters.total.from_ledger += 1
                return _resolved(stored)
            if self.account.replay:
                raise self.account.missing_reply(key, call.request, f"{call.model_name}, {call.purpose}")
            running = asyncio.create_task(self._pay(key, call), name=f"model call {key[:12]}")
            self._running[key] = running
            running.add_done_callback(lambda task: self._forget(key, task))
        else:
            self.account.counters.total.from_ledger += 1
        return asyncio.shield(running)

    async def finish(self, seconds: float) -> None:
        """Send no more, wait up to this long for calls in flight, which cost money, then cancel the rest."""
        self.senders.stop()
        end = asyncio.get_running_loop().time() + seconds
        while (
            self._running
            and self.account.counters.in_flight
            and (rest := end - asyncio.get_running_loop().time()) > 0
        ):
            await asyncio.wait(set(self._running.values()), timeout=rest, return_when=asyncio.FIRST_COMPLETED)
        if self._running:
            _, pending = await asyncio.wait(
                set(self._running.values()), timeout=min(seconds, _KEEPING_SECONDS)
            )
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)

    async def _pay(self, key: str, call: Call) -> ModelReply:
        """Make the call: the only frame between `ask` and the sender or batcher."""
        lease = _Lease(self.account.ledger, key, _LEASE_SECONDS + call.settings.total_seconds)
        stored = await self._take_lease(lease)
        if stored is not None:
            self.account.counters.total.from_ledger += 1
            return stored
        record = partial(
            call_record,
            key=key,
            request=call.request,
            model=call.settings,
            run_id=self.account.run_id,
            purpose=call.purpose,
            fallback=call.fallback,
        )
        try:
            async with self._reserved(call) as spent:
                try:
                    batched = self.settings.batched(call.request.role)
                    if batched and (batcher := self.senders.batcher(call.settings)):
                        reply = await batcher.reply(key, call.request, lease.keep)
                    else:
                        sender = self.senders.of(call.settings)
                        reply = await sender.send(call.request, call.priority, lease.keep)
                except RunStoppedError:
                    raise
                except ModelClientError as error:
                    await self.account.ledger.record(record(error), call.request, None)
                    raise
                prices = prices_of(call.settings)
                priced = {"cost_known": False} if prices is None else {"cost_usd": cost_of(prices, reply)}
                reply = reply.model_copy(update=priced)
                spent.append(Amount(reply.cost_usd, reply.tokens))
                await self.account.ledger.record(record(reply), call.request, reply.text)
        except BaseException:
            await self.account.ledger.release(key)
            raise
        self.account.counters.total.add(reply)
        return reply

    @asynccontextmanager
    async def _reserved(self, call: Call) -> AsyncIterator[list[Amount]]:
        """Reserve the maximum cost of the call; the body appends its actual cost to the list."""
        highest = self._highest_amount(call)
        budget, spent = self.account.budget, list[Amount]()
        self.account.counters.waiting += 1
        try:
            await budget.reserve(highest)
        finally:
            self.account.counters.waiting -= 1
        try:
            yield spent
        finally:
            await budget.settle(highest, sum(spent, Amount()))

    async def _take_lease(self, lease: _Lease) -> ModelReply | None:
        """Take the lease of a call; the reply if another process got it in the meantime, else None."""
        pause = _FIRST_POLL_SECONDS
        while not await lease.take():
            self.account.counters.waiting += 1
            try:
                await asyncio.sleep(pause)
            finally:
                self.account.counters.waiting -= 1
            pause = min(_LONGEST_POLL_SECONDS, pause * 2)
            if reply := lease.ledger.find(lease.key):
                return reply
        if reply := lease.ledger.find(lease.key):
            await lease.ledger.release(lease.key)
        return reply

    def _highest_amount(self, call: Call) -> Amount:
        prices = prices_of(call.settings)
        if prices is None:
            self.account.budget.check_prices([call.model_name])
            if call.model_name not in self._without_price:
                self._without_price.add(call.model_name)
                message = "no price is known for %s: its calls are recorded with cost_known = false"
                logger.warning(message, call.model_name)
        estimate = self.senders.estimates.of(call.settings, call.request)
        return highest_amount(prices, estimate.highest_input_tokens, estimate.highest_output_tokens)

    def _forget(self, key: str, task: asyncio.Task[ModelReply]) -> None:
        del self._running[key]
        if not task.cancelled():
            task.exception()


async def _resolved(reply: ModelReply) -> ModelReply:
    return reply
