"""The offline player at the stages' port: the ledger first, budget, replay, and roles left to models."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Never

import pytest

from taskloom.model_clients.errors import BudgetExhaustedError, ReplyMissingError
from taskloom.model_clients.ledger.budget import Budget, CallCounters, RunAccount
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.offline.models import OfflineModels, OfflineRules
from taskloom.prompts.inputs import DependencyJudgeInput, NumberedSubtask, ResourceLink, SummarizerInput
from taskloom.prompts.prompt_input import PromptInput, Reply
from taskloom.prompts.replies import DependencyJudgeReply
from taskloom.synthesis.ports import Models
from taskloom.taskgraph.records.model_calls import ModelRole

SUBTASKS = tuple(
    NumberedSubtask(number=number, application="Editor", instruction=f"Create '{name}'.")
    for number, name in ((1, "a.txt"), (2, "b.txt"))
)
LINKS = (ResourceLink(producer=1, consumer=2, category="text_path", kind="file", value="a.txt"),)
WRITE = SummarizerInput(goal="Keep order", subtasks=SUBTASKS, links=LINKS)
JUDGE = DependencyJudgeInput(instruction="Create 'a.txt'. Create 'b.txt'.", subtasks=SUBTASKS)


class NobodyElse:
    """Models that may not be asked."""

    async def ask(self, question: PromptInput[Reply], **purpose: object) -> Never:
        raise AssertionError(f"{question.role} was asked of a model")


class AlwaysIndependent:
    """A model that finds no dependency."""

    async def ask(self, question: PromptInput[Reply], **purpose: object) -> Any:
        return DependencyJudgeReply(dependencies=[])


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened


def player(
    ledger: Ledger,
    *,
    budget: str = "",
    replay: bool = False,
    roles: Iterable[ModelRole] = ModelRole,
    others: Models | None = None,
) -> OfflineModels:
    account = RunAccount(ledger, Budget.of(budget), CallCounters(), "r1", replay)
    return OfflineModels(OfflineRules({}, {}), account, roles, others or NobodyElse())


async def test_a_second_run_reads_the_ledger_and_answers_the_same(ledger: Ledger) -> None:
    first = await player(ledger).ask(WRITE, stage="instructions", item_id="t1")
    again = player(ledger, replay=True)
    assert await again.ask(WRITE, stage="instructions", item_id="t1") == first
    assert again._account.counters.total.from_ledger == 1
    (row,) = ledger.calls("r1")
    assert (row.role, row.provider, row.model, row.stage, row.item_id) == (
        ModelRole.SUMMARIZER,
        "offline",
        "rules",
        "instructions",
        "t1",
    )
    assert row.input_tokens > len(WRITE.rendered().user) // 4
    assert (row.cost_usd, row.cost_known) == (0, True)


async def test_a_replay_without_the_reply_names_the_call(ledger: Ledger) -> None:
    with pytest.raises(ReplyMissingError, match=r"item 't1', role summarizer, offline/rules, attempt 3"):
        await player(ledger, replay=True).ask(WRITE, stage="instructions", item_id="t1", attempt=3)


async def test_equal_questions_at_the_same_time_are_one_row_of_the_first_item(ledger: Ledger) -> None:
    models = player(ledger)
    await asyncio.gather(
        *(models.ask(WRITE, stage="instructions", item_id=f"t{number}") for number in range(8))
    )
    assert [row.item_id for row in ledger.calls()] == ["t0"]
    assert (models._account.counters.total.calls_made, models._account.counters.total.from_ledger) == (1, 7)


async def test_other_attempts_and_questions_are_other_calls(ledger: Ledger) -> None:
    await player(ledger).ask(WRITE, stage="instructions", item_id="t1")
    await player(ledger).ask(WRITE, stage="instructions", item_id="t1", attempt=1)
    changed = WRITE.model_copy(update={"goal": "Keep some order"})
    await player(ledger).ask(changed, stage="instructions", item_id="t1")
    assert len(list(ledger.calls())) == 3


async def test_a_budget_of_tokens_stops_it_before_the_call_is_kept(ledger: Ledger) -> None:
    with pytest.raises(BudgetExhaustedError, match="10tok"):
        await player(ledger, budget="10tok").ask(WRITE, stage="instructions", item_id="t1")
    assert list(ledger.calls()) == []


async def test_roles_that_models_play_are_asked_of_models(ledger: Ledger) -> None:
    roles = set(ModelRole) - {ModelRole.DEPENDENCY_JUDGE}
    models = player(ledger, roles=roles, others=AlwaysIndependent())
    assert (await models.ask(JUDGE, stage="validation", item_id="t1")).dependencies == []
    assert list(ledger.calls()) == []
    await models.ask(WRITE, stage="instructions", item_id="t1")
    assert len(list(ledger.calls())) == 1
