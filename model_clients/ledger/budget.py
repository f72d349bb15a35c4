"""What all calls of a run share; a run is stopped before a call that would exceed its budget."""

import asyncio
import re
from collections.abc import Collection
from dataclasses import dataclass, field

from taskloom.model_clients.counters import CallCounters
from taskloom.model_clients.errors import BudgetExhaustedError, BudgetInvalidError, ReplyMissingError
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.messages import ModelRequest

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
        """Whether spending `amount` in all stays within it."""
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
    """Spending of a run, counting calls in flight at their highest price.

    A call reserves its upper estimate before it is sent and settles what it really used. If only the
    reservations of calls in flight stand in the way, the next call waits for them. If it would exceed the
    limit even without them, the budget is closed: everything in flight still finishes, nothing new is sent.
    """

    limit: BudgetLimit | None = None
    """What may be spent; None for any amount."""
    spent: Amount = Amount()
    """What the run has spent, before too."""
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
                    raise BudgetExhaustedError(self._exhausted(limit, highest))
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

    def _exhausted(self, limit: BudgetLimit, highest: Amount) -> str:
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
    """Whether the ledger alone may answer."""

    def missing(self, key: str, request: ModelRequest, who: str) -> ReplyMissingError:
        """The error for a call that is missing from the ledger, in a run that may only replay."""
        return ReplyMissingError(
            f"replaying, and the ledger holds no reply to this call: stage {request.stage!r}, item"
            f" {request.item_id!r}, role {request.role}, {who}, attempt {request.attempt}, key {key}."
            " Put the ledger.sqlite of the run into the data folder, or run without replay"
        )
