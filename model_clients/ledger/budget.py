"""Prices of calls, from the settings, our table or the library `genai-prices`; and what all calls of a run
share: its budget, which stops it before a call that would exceed it, and its counters."""

import asyncio
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from pydantic import TypeAdapter
from ruamel.yaml import YAML

from taskloom.model_clients.errors import BudgetExhaustedError, BudgetInvalidError, ReplyMissingError
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.messages import ModelReply, ModelRequest
from taskloom.model_clients.settings import ModelPrices, ModelSettings
from taskloom.taskgraph.records.model_calls import CallFigures

if TYPE_CHECKING:
    from genai_prices.types import TieredPrices


@dataclass(slots=True)
class CallSums:
    """Sums over calls."""

    calls_made: int = 0
    """Calls sent and answered, refusals included."""
    from_ledger: int = 0
    """Calls answered by the ledger."""
    retries: int = 0
    """Tries that failed transiently."""
    input_tokens: int = 0
    """Input paid for, cached part included."""
    cached_input_tokens: int = 0
    """Input read from the provider's cache."""
    output_tokens: int = 0
    cost_usd: float = 0.0
    """Price of the calls made, in US dollars."""

    def add(self, reply: ModelReply) -> None:
        """Count a call that was just paid for."""
        self.calls_made += 1
        self.input_tokens += reply.input_tokens
        self.cached_input_tokens += reply.cached_input_tokens
        self.output_tokens += reply.output_tokens
        self.cost_usd += reply.cost_usd

    @property
    def cached_share(self) -> float:
        """Share of the input that the provider's cache held, 0 to 1."""
        return self.cached_input_tokens / self.input_tokens if self.input_tokens else 0.0


@dataclass(slots=True)
class CallCounters:
    """Live figures of all model calls of a process."""

    total: CallSums = field(default_factory=CallSums)
    """Sums over all of them."""
    in_flight: int = 0
    """Calls on the wire now."""
    waiting: int = 0
    """Calls waiting for limits, budget, a batch or another process."""
    pauses: dict[str, str] = field(default_factory=dict)
    """Providers that are paused now, and why."""


_BUDGET = re.compile(
    r"\s*(\d+(?:[_,]\d{3})*(?:\.\d+)?)\s*([kKmMgG]?)\s*(usd|tok|tokens|\$)\s*", re.IGNORECASE
)
_SCALES = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


@dataclass(frozen=True, slots=True)
class Amount:
    """US dollars, and tokens of input and output."""

    usd: float = 0.0
    tokens: int = 0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.usd + other.usd, self.tokens + other.tokens)

    def __sub__(self, other: "Amount") -> "Amount":
        return Amount(self.usd - other.usd, self.tokens - other.tokens)


@dataclass(frozen=True, slots=True)
class BudgetLimit:
    """What may be spent: US dollars, or tokens."""

    text: str
    usd: float | None = None
    tokens: int | None = None

    def allows(self, amount: Amount) -> bool:
        """Whether spending `amount` in total stays within the limit."""
        return (self.usd is None or amount.usd <= self.usd + 1e-9) and (
            self.tokens is None or amount.tokens <= self.tokens
        )


def parse_budget(text: str) -> BudgetLimit:
    """Read a budget such as `25usd`, `0.50usd`, `2Mtok` or `500ktok`.

    >>> parse_budget("2Mtok").tokens
    2000000
    >>> parse_budget("25usd").usd
    25.0

    Raises:
        BudgetInvalidError: the text is not such an amount.
    """
    match = _BUDGET.fullmatch(text)
    if match is None:
        raise BudgetInvalidError(
            f"cannot read the budget {text!r}; write an amount such as 25usd, 500ktok or 2Mtok"
        )
    number = float(match[1].replace("_", "").replace(",", "")) * _SCALES[match[2].lower()]
    if match[3].lower() in ("usd", "$"):
        return BudgetLimit(text.strip(), usd=number)
    return BudgetLimit(text.strip(), tokens=int(number))


@dataclass(slots=True)
class Budget:
    """The spending of a run, which counts calls in flight at their highest price.

    A call reserves its upper estimate before it is sent and settles what it really used. If only the
    reservations of calls in flight stand in the way, the next call waits for them. If it would exceed the
    limit even without them, the budget is closed: everything in flight still finishes, nothing new is sent.
    """

    limit: BudgetLimit | None = None
    """What may be spent; None for any amount."""
    spent: Amount = Amount()
    """What the run has spent, including before it was resumed."""
    _reserved: Amount = Amount()
    _closed: bool = False
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @classmethod
    def of(cls, text: str, spent: Amount = Amount()) -> "Budget":
        """Read the limit, none if `text` is empty; `spent` is what the same run spent before."""
        return cls(parse_budget(text) if text else None, spent)

    def check_prices(self, unpriced: Collection[str]) -> None:
        """Raise a `BudgetInvalidError` if the limit is in dollars and there are `unpriced` models."""
        if unpriced and self.limit is not None and self.limit.usd is not None:
            raise BudgetInvalidError(
                f"no price is known for {', '.join(unpriced)}, so a budget in money cannot be kept; set"
                " `prices` for the model, or give the budget in tokens"
            )

    async def reserve(self, highest: Amount) -> None:
        """Reserve the highest price of a call, or raise a `BudgetExhaustedError` if it could exceed the
        limit; waits for calls in flight if only they stand in the way."""
        limit = self.limit
        if limit is None:
            return
        async with self._changed:
            while self._closed or not limit.allows(self.spent + self._reserved + highest):
                if self._closed or not limit.allows(self.spent + highest):
                    self._closed = True
                    self._changed.notify_all()
                    raise BudgetExhaustedError(self._exhausted_message(limit, highest))
                await self._changed.wait()
            self._reserved += highest

    async def settle(self, highest: Amount, used: Amount) -> None:
        """Release a reservation and count what was used; zero for a failed call."""
        if self.limit is None:
            return
        async with self._changed:
            self._reserved -= highest
            self.spent += used
            self._changed.notify_all()

    def _exhausted_message(self, limit: BudgetLimit, highest: Amount) -> str:
        if limit.usd is not None:
            figures = f"{self.spent.usd:.4f} usd spent, and the next call may cost {highest.usd:.4f} usd"
        else:
            figures = f"{self.spent.tokens} tokens used, and the next call may use {highest.tokens}"
        return (
            f"the budget {limit.text} of the run is used up: {figures}."
            " What was paid for is kept; run again with a larger budget to continue"
        )


@dataclass(frozen=True, slots=True)
class RunAccount:
    """The account that the calls of one run are booked to."""

    ledger: Ledger
    budget: Budget
    counters: CallCounters
    run_id: str = ""
    replay: bool = False
    """Whether only the ledger may answer."""

    def missing_reply(self, key: str, request: ModelRequest, model: str) -> ReplyMissingError:
        """The error for a call whose reply is missing from the ledger, in a run that may only replay."""
        return ReplyMissingError(
            f"replaying, but the ledger holds no reply to this call: stage {request.stage!r}, item"
            f" {request.item_id!r}, role {request.role}, {model}, attempt {request.attempt}, key {key}."
            " Put the ledger.sqlite of the run into the data folder, or run without replay"
        )


_DATE = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")


@cache
def price_table() -> dict[str, dict[str, ModelPrices]]:
    """Our prices, which override those of `genai-prices`, by provider and model name."""
    text = (files("taskloom.model_clients.ledger") / "prices.yaml").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, dict[str, ModelPrices]]).validate_python(YAML(typ="safe").load(text))


def prices_of(settings: ModelSettings) -> ModelPrices | None:
    """The prices of a model from the settings, else from our table, else from `genai-prices`, else None.

    A dated snapshot has the prices of its model. A server other than the provider's own has only the prices
    in its settings, because anyone may serve a model. Prices are those for requests of ordinary length.
    """
    if settings.prices is not None:
        return settings.prices
    if settings.base_url:
        return None
    table = price_table().get(settings.provider, {})
    undated = _DATE.sub("", settings.model)
    return (
        table.get(settings.model)
        or table.get(undated)
        or _library_prices(settings.provider, settings.model)
        or _library_prices(settings.provider, undated)
    )


@cache
def _library_prices(provider: str, model: str) -> ModelPrices | None:
    """Prices from the data that ships with `genai-prices`; nothing is fetched."""
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, library_model = get_snapshot().find_provider_model(model, None, provider, None)
    except LookupError:
        return None
    prices = library_model.get_prices(datetime.now(UTC))
    input_price, output_price = _dollars(prices.input_mtok), _dollars(prices.output_mtok)
    if input_price is None or output_price is None:
        return None
    return ModelPrices(
        input=input_price,
        output=output_price,
        cached_input=_dollars(prices.cache_read_mtok),
        cache_write=_dollars(prices.cache_write_mtok),
    )


def _dollars(price: "Decimal | TieredPrices | None") -> float | None:
    """Dollars per million tokens; the lowest price if it rises with the length of the request."""
    return None if price is None else float(price if isinstance(price, Decimal) else price.base)


def cost_of(prices: ModelPrices, call: CallFigures) -> float:
    """The price of a call's tokens in US dollars."""
    cached = prices.input if prices.cached_input is None else prices.cached_input
    written = prices.input if prices.cache_write is None else prices.cache_write
    plain_tokens = max(0, call.input_tokens - call.cached_input_tokens - call.cache_write_tokens)
    millionths = (
        plain_tokens * prices.input
        + call.cached_input_tokens * cached
        + call.cache_write_tokens * written
        + call.output_tokens * prices.output
    )
    return millionths / 1e6 * (prices.batch_factor if call.batched else 1.0)


def highest_amount(prices: ModelPrices | None, input_tokens: int, output_tokens: int) -> Amount:
    """The highest price of a call with these tokens: outside a batch, with all input written to the cache."""
    tokens = input_tokens + output_tokens
    if prices is None:
        return Amount(0.0, tokens)
    dearest = max(prices.input, prices.cache_write or 0.0)
    return Amount((input_tokens * dearest + output_tokens * prices.output) / 1e6, tokens)
