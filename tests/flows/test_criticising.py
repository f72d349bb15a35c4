"""A model as the critic of a run that rules play otherwise: what it thinks is kept, and decides what the
settings say."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from taskloom.flows.settings import load_settings
from taskloom.flows.stages.making import TaskMaking, criticise, doubt_of_critic
from taskloom.flows.summary import summarise
from taskloom.flows.wiring import Run, open_run
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.prompts.replies import CriticReply
from taskloom.taskgraph.records.criticism import Criticism, Score
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.store import Warehouse
from tests.servers.models.behaviour import Behaviour, WireCall, always
from tests.servers.models.server import LocalModelServer
from tests.synthesis.task_samples import sample_tasks

KEY = "sk-test-8d1f60b72c"
Answerer = Callable[[WireCall], str]
TASKS = [
    task.model_copy(update={"instruction": f"Please see to number {number}.", "status": "validated"})
    for number, task in enumerate(sample_tasks(12))
]


def says(sense: int) -> str:
    good, doubt = Score(score=5, reason="Fine."), Score(score=sense, reason="Who would want that?")
    return CriticReply(naturalness=good, sense=doubt, feasibility=good).model_dump_json()


@asynccontextmanager
async def run_with(
    data: Path, answerer: Answerer, *assignments: str, script: Behaviour | None = None
) -> AsyncIterator[Run]:
    async with LocalModelServer(always(script or Behaviour()), answerer, key=KEY) as server:
        model = f"{{provider: openai, model: m, base_url: '{server.url}', api_key_variable: CRITIC_KEY}}"
        chosen = load_settings(
            assignments=["platform=simulated", f"models.roles.critic.model={model}", *assignments], data=data
        )
        async with open_run(chosen, "compose_tasks", quiet=True) as run:
            await run.recorder.record(*TASKS, replace=True)
            yield run


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRITIC_KEY", KEY)


async def test_what_the_critic_thinks_too_little_of_is_rejected_with_its_reason(tmp_path: Path) -> None:
    def doubts_even_numbers(call: WireCall) -> str:
        even = any(f"number {number}." in call.turns[0] for number in range(0, 12, 2))
        return f"My view:\n```json\n{says(2 if even else 4)}\n```"

    async with run_with(tmp_path, doubts_even_numbers, "critic.share=1", "critic.reject_below=3") as run:
        done = await criticise(run, TASKS)
        shown = (await summarise(run, ())).describe()
    assert done == tuple(TASKS[1::2])
    with Warehouse(tmp_path / "warehouse", read_only=True) as store:
        scored = {item.task_id: item for item in store.read(Criticism)}
        rejected = {item.task_id for item in store.read(Task, "status = 'rejected'")}
        reasons = {
            str(row[0])
            for row in store.query("SELECT message FROM rejections WHERE reason = 'critic'").rows()
        }
    assert scored.keys() == {task.task_id for task in TASKS}
    assert {item.critic for item in scored.values()} == {"openai/m"}
    assert rejected == {task.task_id for task in TASKS[::2]}
    assert reasons == {"sense 2 of 5: Who would want that?"}
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        assert {(call.role, call.stage) for call in ledger.calls()} == {(ModelRole.CRITIC, "criticism")}
    assert "naturalness 5.00, sense 3.00, feasibility 5.00 (12 tasks, by openai/m)" in shown


async def test_only_a_share_is_scored_and_without_a_model_nothing_is(tmp_path: Path) -> None:
    async with run_with(tmp_path / "some", lambda call: says(5), "critic.share=0.4") as run:
        assert await criticise(run, TASKS) == tuple(TASKS)
        await run.recorder.flush()
        some = len(list(run.warehouse.read(Criticism)))
    assert 0 < some < 12
    offline = load_settings(assignments=["platform=simulated", "critic.share=1"], data=tmp_path / "none")
    async with open_run(offline, "compose_tasks", quiet=True) as run:
        assert await criticise(run, TASKS) == tuple(TASKS)
        assert run.calls.counters.total.calls_made == 0


async def test_a_critic_that_refuses_rejects_nothing(tmp_path: Path) -> None:
    refusal = Behaviour("refuse")
    settings = ("critic.share=1", "critic.reject_below=5")
    async with run_with(tmp_path, lambda call: says(1), *settings, script=refusal) as run:
        assert await criticise(run, TASKS[:2]) == tuple(TASKS[:2])
        await run.recorder.flush()
        assert not list(run.warehouse.read(Criticism))


@pytest.mark.slow
async def test_tasks_that_do_well_enough_on_the_whole_are_published_and_others_are_not(
    tmp_path: Path,
) -> None:
    async with run_with(
        tmp_path, lambda call: says(3), "critic.share=1", "critic.minimum_mean={sense: 3.5}"
    ) as run:
        await criticise(run, TASKS)
        assert "sense 3.00 (critic.minimum_mean: 3.5)" in await doubt_of_critic(run)
        assert await TaskMaking(run, {}).publish() == ""
        summary = await summarise(run, ())
    assert "Not published: The critic's mean scores over 12 tasks are too low" in summary.describe()
    async with run_with(
        tmp_path, lambda call: says(3), "critic.share=1", "critic.minimum_mean={sense: 3}"
    ) as run:
        await criticise(run, TASKS)
        assert await doubt_of_critic(run) == ""
        assert await TaskMaking(run, {}).publish() == "v1"
