"""Batch mode: calls go in together, answers come back once, and restarts collect what was handed in."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path

import pytest

from taskloom.model_clients.errors import ReplyUnavailableError
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.role_models import RoleModels
from taskloom.model_clients.settings import CallSettings, ModelPrices
from taskloom.taskgraph.records.model_calls import ModelRole
from tests.model_clients.requests import PlainQuestion, call_settings, model_at, verdict_about
from tests.servers.models.behaviour import Behaviour, Script, WireCall, always
from tests.servers.models.server import LocalModelServer

PROVIDERS = [("openai", "responses"), ("openai", "chat_completions"), ("anthropic", "")]
FAST = {"gather_seconds": 0.02, "poll_seconds": 0.01}
WHEN_FULL = {"gather_seconds": 3600}
"""No batch goes in before it is full, however slow the machine."""
PRICES = ModelPrices(input=10, output=20)


def served(script: Script | None = None) -> LocalModelServer:
    return LocalModelServer(script, verdict_about)


def batch_settings(server: LocalModelServer, variant: tuple[str, str], **batch: object) -> CallSettings:
    model = model_at(server.url, *variant, prices=PRICES)
    return call_settings(model, batch={**FAST, **batch})


async def ask(models: RoleModels, text: str, role: ModelRole = ModelRole.SUMMARIZER) -> str:
    verdict = await models.ask(PlainQuestion(text, role=role), stage=role, item_id=text)
    return verdict.answer


@pytest.mark.parametrize("variant", PROVIDERS, ids="-".join)
async def test_calls_go_in_together_at_the_lower_price(variant: tuple[str, str], ledger: Ledger) -> None:
    async with served() as server:
        models = RoleModels(batch_settings(server, variant, largest=10, **WHEN_FULL), ledger)
        answers = await asyncio.gather(*(ask(models, f"item {n}") for n in range(10)))
        by_batch = models.counters.total.cost_usd
        await ask(models, "item x", ModelRole.ACTOR)
        one_at_once = models.counters.total.cost_usd - by_batch
        await models.close()
    assert answers == [f"about item {n}" for n in range(10)]
    assert len(server.batches.submitted) == 1
    assert [call.batched for call in ledger.calls()].count(True) == 10
    if variant[0] == "openai":
        assert by_batch / 10 == pytest.approx(one_at_once / 2, rel=0.05)


@pytest.mark.parametrize("variant", PROVIDERS, ids="-".join)
async def test_a_full_batch_goes_in_at_once(variant: tuple[str, str], ledger: Ledger) -> None:
    async with served() as server:
        settings = batch_settings(server, variant, largest=4, **WHEN_FULL)
        async with RoleModels(settings, ledger) as models:
            await asyncio.gather(*(ask(models, f"item {n}") for n in range(12)))
    assert len(server.batches.submitted) == 3


async def test_a_batch_goes_in_when_no_further_call_comes(ledger: Ledger) -> None:
    async with served() as server, RoleModels(batch_settings(server, PROVIDERS[0]), ledger) as models:
        assert await ask(models, "one") == "about one"
    assert len(server.batches.submitted) == 1


@pytest.mark.parametrize("variant", PROVIDERS, ids="-".join)
async def test_failed_and_expired_calls_go_into_a_further_batch(
    variant: tuple[str, str], ledger: Ledger
) -> None:
    trouble = {0: Behaviour("status", status=500), 1: Behaviour("hang"), 2: Behaviour("status", status=400)}

    def script(number: int, call: WireCall) -> Behaviour:
        return trouble.get(number, Behaviour())

    async with served(script) as server, RoleModels(batch_settings(server, variant), ledger) as models:
        answers = await asyncio.gather(*(ask(models, f"item {n}") for n in range(6)), return_exceptions=True)
    kinds = Counter(type(answer) for answer in answers)
    assert kinds == {str: 5, ReplyUnavailableError: 1}
    sent = Counter(json.dumps(call.body) for call in server.calls)
    assert sorted(sent.values()) == [1, 1, 1, 1, 2, 2]
    assert len(server.batches.submitted) >= 2
    assert Counter(call.outcome for call in ledger.calls()) == {"answered": 5, "rejected": 1}


async def test_a_call_that_always_expires_is_given_up_after_all_rounds(ledger: Ledger) -> None:
    async with (
        served(always(Behaviour("hang"))) as server,
        RoleModels(batch_settings(server, PROVIDERS[0], rounds=2), ledger) as models,
    ):
        with pytest.raises(ReplyUnavailableError, match="ended without an answer"):
            await ask(models, "one")
    assert len(server.batches.submitted) == 2


@pytest.mark.parametrize("variant", PROVIDERS, ids="-".join)
async def test_a_restart_collects_the_batch_of_the_run_before(
    variant: tuple[str, str], tmp_path: Path
) -> None:
    async with served() as server:
        server.batches.looks_until_ended = 1_000_000
        settings = batch_settings(server, variant, largest=5, **WHEN_FULL)
        with Ledger(tmp_path / "ledger.sqlite") as ledger:
            models = RoleModels(settings, ledger)
            asked = [asyncio.create_task(ask(models, f"item {n}")) for n in range(5)]
            while not ledger.select("SELECT 1 FROM batch_requests"):
                await asyncio.sleep(0.005)
            for task in asked:
                task.cancel()
            await models.close(grace_seconds=0)
        server.batches.looks_until_ended = 1
        with Ledger(tmp_path / "ledger.sqlite") as ledger:
            async with RoleModels(settings, ledger) as models:
                answers = await asyncio.gather(*(ask(models, f"item {n}") for n in range(5)))
            assert not ledger.select("SELECT 1 FROM batch_requests")
    assert answers == [f"about item {n}" for n in range(5)]
    assert len(server.batches.submitted) == 1
    assert server.answered == 5
