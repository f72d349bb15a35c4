"""Asking by role: typed replies, the ledger first, repair, refusals, fallbacks, replay."""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
from collections.abc import AsyncIterator
from types import FrameType

import pytest

from taskloom.model_clients import senders
from taskloom.model_clients.errors import (
    BudgetExhaustedError,
    KeyRejectedError,
    ReplyInvalidError,
    ReplyMissingError,
    ReplyRefusedError,
    ReplyUnavailableError,
)
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.messages import ModelReply, ModelRequest
from taskloom.model_clients.role_models import RoleModels
from taskloom.model_clients.settings import CallSettings, ModelPrices
from taskloom.taskgraph.records.model_calls import ModelRole
from tests.model_clients.requests import PlainQuestion, call_settings, model_at, verdict_about
from tests.servers.models.behaviour import Behaviour, Script, WireCall, always, in_turn
from tests.servers.models.server import LocalModelServer


@pytest.fixture
async def server() -> AsyncIterator[LocalModelServer]:
    async with LocalModelServer(answerer=verdict_about) as opened:
        yield opened


def served(script: Script) -> LocalModelServer:
    return LocalModelServer(script, verdict_about)


async def ask(models: RoleModels, text: str, attempt: int = 0, stage: str = "instructions") -> str:
    verdict = await models.ask(PlainQuestion(text), stage=stage, item_id=text, attempt=attempt)
    return verdict.answer


async def test_a_second_run_makes_no_call_again(server: LocalModelServer, ledger: Ledger) -> None:
    settings = call_settings(model_at(server.url))
    for _ in range(2):
        async with RoleModels(settings, ledger) as models:
            assert await ask(models, "one") == "about one"
    assert len(server.calls) == 1
    assert (models.counters.total.calls_made, models.counters.total.from_ledger) == (0, 1)


async def test_a_new_attempt_is_a_new_call(server: LocalModelServer, ledger: Ledger) -> None:
    async with RoleModels(call_settings(model_at(server.url)), ledger) as models:
        await ask(models, "one")
        await ask(models, "one", attempt=1)
    assert len(server.calls) == 2


async def test_equal_questions_at_the_same_time_are_one_call(ledger: Ledger) -> None:
    async with (
        served(always(Behaviour(seconds=0.05))) as server,
        RoleModels(call_settings(model_at(server.url)), ledger) as models,
    ):
        answers = await asyncio.gather(*(ask(models, "one") for _ in range(5)))
    assert answers == ["about one"] * 5
    assert len(server.calls) == 1
    assert models.counters.total.calls_made == 1


async def test_a_caller_that_is_cancelled_does_not_lose_the_paid_reply(ledger: Ledger) -> None:
    async with served(always(Behaviour(seconds=0.1))) as server:
        settings = call_settings(model_at(server.url))
        async with RoleModels(settings, ledger) as models:
            asked = asyncio.create_task(ask(models, "one"))
            while not server.calls:
                await asyncio.sleep(0.005)
            asked.cancel()
        async with RoleModels(settings, ledger) as models:
            assert await ask(models, "one") == "about one"
    assert len(server.calls) == 1


async def test_a_malformed_reply_is_repaired_with_the_parsers_words(ledger: Ledger) -> None:
    async with (
        served(in_turn(Behaviour("malformed"))) as server,
        RoleModels(call_settings(model_at(server.url)), ledger) as models,
    ):
        assert await ask(models, "one") == "about one"
    assert "not valid JSON" in server.calls[1].turns[2]
    assert server.calls[1].turns[1].startswith("Sure!")


async def test_a_reply_that_stays_malformed_is_rejected_after_one_repair(ledger: Ledger) -> None:
    async with (
        served(always(Behaviour("malformed"))) as server,
        RoleModels(call_settings(model_at(server.url)), ledger) as models,
    ):
        with pytest.raises(ReplyInvalidError, match="after a repair round"):
            await ask(models, "one")
    assert len(server.calls) == 2


async def test_a_cut_reply_is_asked_for_again_with_twice_the_room(ledger: Ledger) -> None:
    async with served(in_turn(Behaviour("truncate"))) as server:
        model = model_at(server.url, parameters={"max_output_tokens": 100})
        async with RoleModels(call_settings(model), ledger) as models:
            assert await ask(models, "one") == "about one"
    assert [call.max_tokens for call in server.calls] == [100, 200]
    assert [call.purpose for call in ledger.calls()] == ["first", "longer"]


async def test_a_reply_cut_at_the_models_own_limit_is_asked_for_shorter(ledger: Ledger) -> None:
    async with (
        served(in_turn(Behaviour("truncate"))) as server,
        RoleModels(call_settings(model_at(server.url)), ledger) as models,
    ):
        assert await ask(models, "one") == "about one"
    assert "must be shorter" in server.calls[1].turns[2]


async def test_a_refusal_is_recorded_and_not_paid_for_again(ledger: Ledger) -> None:
    async with served(always(Behaviour("refuse"))) as server:
        settings = call_settings(model_at(server.url))
        for _ in range(2):
            async with RoleModels(settings, ledger) as models:
                with pytest.raises(ReplyRefusedError, match="can't help"):
                    await ask(models, "one")
    assert len(server.calls) == 1
    assert [call.outcome for call in ledger.calls()] == ["refused"]


async def test_transient_errors_are_tried_again_and_counted(ledger: Ledger) -> None:
    trouble = [
        Behaviour("status", status=500),
        Behaviour("reset"),
        Behaviour("garbage"),
        Behaviour("cut_off"),
    ]
    async with (
        served(in_turn(*trouble)) as server,
        RoleModels(call_settings(model_at(server.url)), ledger) as models,
    ):
        assert await ask(models, "one") == "about one"
    assert models.counters.total.retries == 4
    assert [call.retries for call in ledger.calls()] == [4]


async def test_one_number_of_tries_is_shared_by_all_reasons(ledger: Ledger) -> None:
    async with served(always(Behaviour("status", status=500))) as server:
        retries = {"attempts": 3, "first_wait_seconds": 0.001}
        async with RoleModels(call_settings(model_at(server.url), retries=retries), ledger) as models:
            with pytest.raises(ReplyUnavailableError):
                await ask(models, "one")
    assert len(server.calls) == 3
    assert [(call.outcome, call.error[:10]) for call in ledger.calls()] == [("failed", "openai tes")]


async def test_a_failed_call_is_made_again_by_the_next_run(ledger: Ledger) -> None:
    async with served(in_turn(Behaviour("status", status=400))) as server:
        settings = call_settings(model_at(server.url))
        async with RoleModels(settings, ledger) as models:
            with pytest.raises(ReplyUnavailableError):
                await ask(models, "one")
            assert await ask(models, "one") == "about one"
    assert [call.outcome for call in ledger.calls()] == ["answered"]


async def test_a_rejected_key_stops_all_further_calls(ledger: Ledger) -> None:
    async with (
        served(always(Behaviour("status", status=401))) as server,
        RoleModels(call_settings(model_at(server.url)), ledger) as models,
    ):
        for text in ("one", "two"):
            with pytest.raises(KeyRejectedError):
                await ask(models, text)
    assert len(server.calls) == 1


async def test_a_fallback_model_is_asked_only_where_one_is_set(ledger: Ledger) -> None:
    async with (
        served(always(Behaviour("refuse"))) as broken,
        LocalModelServer(answerer=verdict_about) as sound,
    ):
        first, second = model_at(broken.url), model_at(sound.url, provider="anthropic")
        settings = CallSettings.model_validate(
            {"default": first, "roles": {"summarizer": {"model": first, "fallbacks": (second,)}}}
        )
        async with RoleModels(settings, ledger) as models:
            assert await ask(models, "one") == "about one"
    assert {(call.provider, call.fallback, call.outcome) for call in ledger.calls()} == {
        ("openai", 0, "refused"),
        ("anthropic", 1, "answered"),
    }


async def test_replay_answers_from_the_ledger_without_server_or_key(
    server: LocalModelServer, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = call_settings(model_at(server.url))
    async with RoleModels(settings, ledger) as models:
        await ask(models, "one")
    monkeypatch.delenv("TASKLOOM_TEST_KEY")
    replaying = settings.model_copy(update={"replay": True})
    async with RoleModels(replaying, ledger) as models:
        assert await ask(models, "one") == "about one"
        with pytest.raises(ReplyMissingError, match=r"item 'two'.*test-model.*key [0-9a-f]{64}"):
            await ask(models, "two")
    assert len(server.calls) == 1


async def test_a_budget_in_tokens_stops_before_the_call_that_would_exceed_it(
    server: LocalModelServer, ledger: Ledger
) -> None:
    model = model_at(server.url, parameters={"max_output_tokens": 100})
    settings = call_settings(model, budget="3000tok")
    async with RoleModels(settings, ledger, run_id="r1") as models:
        answers = await asyncio.gather(*(ask(models, f"item {n}") for n in range(40)), return_exceptions=True)
    done = [answer for answer in answers if isinstance(answer, str)]
    stopped = [answer for answer in answers if isinstance(answer, BudgetExhaustedError)]
    total = models.counters.total
    assert len(done) + len(stopped) == 40
    assert done
    assert stopped
    assert total.input_tokens + total.output_tokens <= 3000
    assert len(server.calls) == len(done)

    larger = settings.model_copy(update={"budget": "100ktok"})
    async with RoleModels(larger, ledger, run_id="r1") as models:
        await asyncio.gather(*(ask(models, f"item {n}") for n in range(40)))
    assert len(server.calls) == 40


async def test_a_used_up_budget_still_keeps_every_call_on_the_wire(ledger: Ledger) -> None:
    async with served(always(Behaviour(seconds=1))) as server:
        model = model_at(server.url, parameters={"max_output_tokens": 100})
        settings = call_settings(model, budget="3000tok", limits={"openai": {"concurrency": 2}})
        with pytest.raises(BudgetExhaustedError):
            async with RoleModels(settings, ledger) as models:
                waiting = [asyncio.create_task(ask(models, f"item {n}")) for n in range(4)]
                while len(server.calls) < 2:
                    await asyncio.sleep(0.005)
                raise BudgetExhaustedError("used up")
        await asyncio.gather(*waiting, return_exceptions=True)
    assert [call.outcome for call in ledger.calls()] == ["answered", "answered"]
    assert len(server.calls) == 2


async def test_what_a_run_spent_before_counts_against_its_budget(
    server: LocalModelServer, ledger: Ledger
) -> None:
    prices = ModelPrices(input=1000, output=1000)
    settings = call_settings(
        model_at(server.url, prices=prices, parameters={"max_output_tokens": 50}), budget="1usd"
    )
    async with RoleModels(settings, ledger, run_id="r1") as models:
        await ask(models, "one")
    spent = models.counters.total.cost_usd
    assert 0 < spent < 1
    tight = settings.model_copy(update={"budget": f"{spent + 0.01:.4f}usd"})
    async with RoleModels(tight, ledger, run_id="r1") as models:
        with pytest.raises(BudgetExhaustedError, match="larger budget"):
            await ask(models, "two")


async def test_roles_late_in_the_method_go_first(ledger: Ledger) -> None:
    async with served(in_turn(Behaviour(seconds=1))) as server:
        limits = {"openai": {"concurrency": 1}}
        async with RoleModels(call_settings(model_at(server.url), limits=limits), ledger) as models:
            asked = [
                asyncio.create_task(
                    models.ask(PlainQuestion(role, role=role), stage=role, item_id=f"{role} {number}")
                )
                for number, role in enumerate(ModelRole)
            ]
            await asyncio.gather(*asked)
    first, *others = [call.turns[0] for call in server.calls]
    assert first == ModelRole.EXPLORER
    assert others == list(reversed(ModelRole))[:-1]


def answer_with_number(call: WireCall) -> str:
    return json.dumps({"answer": 7})


async def test_a_reply_of_the_wrong_kind_names_the_field(ledger: Ledger) -> None:
    async with (
        LocalModelServer(answerer=answer_with_number) as server,
        RoleModels(call_settings(model_at(server.url)), ledger) as models,
    ):
        with pytest.raises(ReplyInvalidError, match="answer: Input should be a valid string; got 7"):
            await ask(models, "one")


class SoleClient:
    """Answers, and counts the frames between the stage's call and itself."""

    provider, model = "openai", "m"

    def __init__(self) -> None:
        self.frames: list[str] = []
        self.asking: asyncio.Task[str] | None = None

    async def complete(self, request: ModelRequest) -> ModelReply:
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            if "model_clients" in frame.f_code.co_filename or frame.f_code.co_name == "complete":
                self.frames.append(frame.f_code.co_name)
            frame = frame.f_back
        assert self.asking is not None
        waiting: object = self.asking.get_coro()
        while inspect.iscoroutine(waiting):
            self.frames.append(waiting.cr_code.co_name)
            waiting = waiting.cr_await
        return ModelReply(text='{"answer": "yes"}')

    async def close(self) -> None:
        pass


async def test_a_call_is_at_most_six_frames_deep_from_stage_to_socket(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = SoleClient()
    monkeypatch.setattr(senders, "create_client", lambda settings: client)
    async with RoleModels(call_settings(model_at("http://127.0.0.1:9")), ledger) as models:
        client.asking = asyncio.create_task(ask(models, "one"))
        assert await client.asking == "yes"
    assert client.frames == ["complete", "send", "_pay", "ask", "ask"]
