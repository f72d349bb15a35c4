"""A budget is a promise: nothing is sent that could exceed it, and everything in flight finishes."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.model_clients.errors import BudgetExhaustedError, BudgetInvalidError
from taskloom.model_clients.ledger.budget import (
    Amount,
    Budget,
    cost_of,
    highest_amount,
    parse_budget,
    price_table,
    prices_of,
)
from taskloom.model_clients.settings import ModelPrices, ModelSettings
from taskloom.taskgraph.records.model_calls import CallFigures
from tests.model_clients.virtual_time import run_in_virtual_time


@pytest.mark.parametrize(
    ("text", "usd", "tokens"),
    [
        ("25usd", 25, None),
        ("0.50 USD", 0.5, None),
        ("$3", None, None),
        ("2Mtok", None, 2_000_000),
        ("500ktok", None, 500_000),
        ("1,500tokens", None, 1500),
        ("1.5ktok", None, 1500),
    ],
)
def test_reads_amounts(text: str, usd: float | None, tokens: int | None) -> None:
    if text == "$3":
        with pytest.raises(BudgetInvalidError, match=r"25usd, 500ktok or 2Mtok"):
            parse_budget(text)
        return
    limit = parse_budget(text)
    assert (limit.usd, limit.tokens) == (usd, tokens)


@given(st.text(max_size=20))
def test_refuses_everything_else_in_one_way(text: str) -> None:
    try:
        limit = parse_budget(text)
    except BudgetInvalidError as error:
        assert repr(text) in str(error)
    else:
        assert (limit.usd is None) != (limit.tokens is None)


@given(seed=st.integers(0, 10_000), limit=st.integers(1, 2000), calls=st.integers(1, 40))
def test_never_spends_more_than_the_limit_and_loses_no_call(seed: int, limit: int, calls: int) -> None:
    source = random.Random(seed)
    plans = [
        (highest, source.randint(0, highest)) for highest in (source.randint(1, 200) for _ in range(calls))
    ]

    async def scenario() -> tuple[int, int, int]:
        budget = Budget.of(f"{limit}tok")
        spent = done = stopped = 0

        async def one(highest: int, used: int) -> None:
            nonlocal spent, done, stopped
            try:
                await budget.reserve(Amount(tokens=highest))
            except BudgetExhaustedError:
                stopped += 1
                return
            await asyncio.sleep(source.random())
            spent += used
            done += 1
            await budget.settle(Amount(tokens=highest), Amount(tokens=used))

        await asyncio.gather(*(one(*plan) for plan in plans))
        return spent, done, stopped

    spent, done, stopped = run_in_virtual_time(scenario())
    assert spent <= limit
    assert done + stopped == calls
    if stopped == 0:
        assert done == calls
    if sum(highest for highest, _ in plans) <= limit:
        assert stopped == 0


def test_waits_for_calls_in_flight_when_only_they_stand_in_the_way() -> None:
    async def scenario() -> float:
        budget = Budget.of("100tok")

        async def one() -> None:
            await budget.reserve(Amount(tokens=60))
            await asyncio.sleep(1)
            await budget.settle(Amount(tokens=60), Amount(tokens=10))

        await asyncio.gather(*(one() for _ in range(4)))
        return asyncio.get_running_loop().time()

    assert run_in_virtual_time(scenario()) == pytest.approx(4)


def test_prices_follow_cached_written_and_batched_tokens() -> None:
    prices = ModelPrices(input=10, output=50, cached_input=1, cache_write=12.5)
    usage = CallFigures(
        input_tokens=1_000_000, cached_input_tokens=600_000, cache_write_tokens=100_000, output_tokens=100_000
    )
    assert cost_of(prices, usage) == pytest.approx(3 + 0.6 + 1.25 + 5)
    assert cost_of(prices, usage.model_copy(update={"batched": True})) == pytest.approx(9.85 / 2)
    assert highest_amount(prices, 1_000_000, 100_000).usd >= cost_of(prices, usage)


def test_a_dated_snapshot_has_its_models_price() -> None:
    for provider, models in price_table().items():
        for name, prices in models.items():
            for model in (name, f"{name}-2099-01-31", f"{name}-20990131"):
                assert prices_of(ModelSettings(provider=provider, model=model)) == prices


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("openai", "gpt-4o-mini", ModelPrices(input=0.15, output=0.6, cached_input=0.075)),
        ("openai", "gpt-4o-mini-2024-07-18", ModelPrices(input=0.15, output=0.6, cached_input=0.075)),
        ("anthropic", "claude-haiku-4-5", ModelPrices(input=1, output=5, cached_input=0.1, cache_write=1.25)),
    ],
)
def test_published_prices_are_known_without_a_table_of_ours(
    provider: str, model: str, expected: ModelPrices
) -> None:
    assert model not in price_table().get(provider, {})
    assert prices_of(ModelSettings(provider=provider, model=model)) == expected


def test_a_model_of_a_similar_name_has_no_price() -> None:
    assert prices_of(ModelSettings(provider="openai", model="gpt-5.4-other")) is None


def test_an_unknown_model_and_a_foreign_server_have_no_price_but_that_of_the_settings() -> None:
    own = ModelPrices(input=1, output=2)
    assert prices_of(ModelSettings(provider="openai", model="no-such-model")) is None
    assert prices_of(ModelSettings(provider="openai", model="gpt-5-mini", base_url="http://here")) is None
    assert prices_of(ModelSettings(provider="openai", model="x", base_url="http://here", prices=own)) == own
