"""Stops a run before a call that would exceed its budget."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from taskloom.model_clients.errors import BudgetExhaustedError, BudgetInvalidError

_BUDGET = re.compile(
    r"\s*(\d+(?:[_,]\d{3})*(?:\.\d+)?)\s*([kKmMgG]?)\s*(usd|tok|tokens|\$)\s*", re.IGNORECASE
)
_SCALES = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


@dataclass(frozen=True, slots=True)
class Amount:
    """Money and tokens."""

    usd: float = 0.0
    """US dollars."""
    tokens: int = 0
    """Input and output tokens."""

    def __add__(self, other: Amount) -> Amount:
        """Both together."""
        return Amount(self.usd + other.usd, self.tokens + other.tokens)

    def __sub__(self, other: Amount) -> Amount:
        """What is left of it."""
        return Amount(self.usd - other.usd, self.tokens - other.tokens)


@dataclass(frozen=True, slots=True)
class BudgetLimit:
    """What may be spent: money, or tokens."""

    text: str
    usd: float | None = None
    """US dollars, or None."""
    tokens: int | None = None
    """Tokens, or None."""

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
class _Account:
    """Spending against one limit."""

    name: str
    limit: BudgetLimit
    spent: Amount = Amount()
    reserved: Amount = Amount()
    closed: bool = False


@dataclass(slots=True)
class Budget:
    """Spending of a run and of its stages, counting calls in flight at their highest price.

    A call reserves its upper estimate before it is sent and settles what it really used. If only the
    reservations of calls in flight stand in the way, the next call waits for them. If it would exceed the
    limit even without them, the account is closed: everything in flight still finishes, nothing new is sent.
    """

    accounts: list[_Account] = field(default_factory=list)
    """One for the run, when it has a limit, and one for each limited stage."""
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @classmethod
    def of(
        cls, run: str, stages: Mapping[str, str], spent: Mapping[str, tuple[float, int]] | None = None
    ) -> Budget:
        """Read the limits; `spent` is what the same run spent before, by stage, as dollars and tokens.

        Raises:
            BudgetInvalidError: a limit cannot be read.
        """
        before = {stage: Amount(*amount) for stage, amount in (spent or {}).items()}
        accounts = []
        if run:
            accounts.append(_Account("", parse_budget(run), sum(before.values(), Amount())))
        for stage, limit in stages.items():
            accounts.append(_Account(stage, parse_budget(limit), before.get(stage, Amount())))
        return cls(accounts)

    @property
    def limits_money(self) -> bool:
        """Whether any limit is in dollars, so that prices must be known."""
        return any(account.limit.usd is not None for account in self.accounts)

    def check_prices(self, unpriced: Collection[str]) -> None:
        """Check that no model is `unpriced` where a limit is in dollars.

        Raises:
            BudgetInvalidError: there is one.
        """
        if unpriced and self.limits_money:
            raise BudgetInvalidError(
                f"no price is known for {', '.join(unpriced)}, so a budget in money cannot be kept; set"
                " `prices` for the model, or give the budget in tokens"
            )

    async def reserve(self, stage: str, highest: Amount) -> None:
        """Reserve the highest price of a call; waits for calls in flight if only they stand in the way.

        Raises:
            BudgetExhaustedError: the call could exceed the limit of the run or of its stage.
        """
        async with self._changed:
            while True:
                blocked = [account for account in self._of(stage) if not self._fits(account, highest)]
                if not blocked:
                    break
                for account in blocked:
                    if account.closed or not account.limit.allows(account.spent + highest):
                        account.closed = True
                        self._changed.notify_all()
                        raise BudgetExhaustedError(_exhausted(account, highest))
                await self._changed.wait()
            for account in self._of(stage):
                account.reserved += highest

    async def settle(self, stage: str, highest: Amount, used: Amount) -> None:
        """Release a reservation and count what was used; zero for a failed call."""
        async with self._changed:
            for account in self._of(stage):
                account.reserved -= highest
                account.spent += used
            self._changed.notify_all()

    def _of(self, stage: str) -> list[_Account]:
        return [account for account in self.accounts if account.name in ("", stage)]

    @staticmethod
    def _fits(account: _Account, highest: Amount) -> bool:
        return not account.closed and account.limit.allows(account.spent + account.reserved + highest)


def _exhausted(account: _Account, highest: Amount) -> str:
    whose = f"of stage {account.name!r}" if account.name else "of the run"
    if account.limit.usd is not None:
        figures = f"{account.spent.usd:.4f} usd spent, and the next call may cost {highest.usd:.4f} usd"
    else:
        figures = f"{account.spent.tokens} tokens used, and the next call may use {highest.tokens}"
    return (
        f"the budget {account.limit.text} {whose} is used up: {figures}."
        " What was paid for is kept; run again with a larger budget to continue"
    )
