"""A model as the critic of a run that rules play otherwise: what it thinks is kept, and decides what the settings say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from flows.settings import load_settings
from flows.summaries.summary import RunSummary
from model_clients.ledger.ledger import Ledger
from prompts.replies import CriticReply
from taskgraph.records.criticism import Criticism, Score
from taskgraph.records.model_calls import ModelRole
from tests.servers.models.behaviour import WireCall
from tests.servers.models.server import LocalModelServer
from warehouse.store import Warehouse

KEY = "sk-test-8d1f60b72c"
Answerer = Callable[[WireCall], str]


def build(data: Path, answerer: Answerer, *assignments: str) -> RunSummary:
    from flows.build_dataset import build_dataset

    async def served() -> RunSummary:
        async with LocalModelServer(answerer=answerer, key=KEY) as server:
            model = f"{{provider: openai, model: m, base_url: '{server.url}', api_key_variable: CRITIC_KEY}}"
            chosen = load_settings(
                assignments=[
                    "platform=simulated",
                    "composition.count=14",
                    "intents.wanted=4",
                    "replay_share=0",
                    f"models.roles.critic.model={model}",
                    *assignments,
                ],
                data=data,
                applications=("simulated_notes", "simulated_mail"),
            )
            summary = await build_dataset(settings=chosen)
        assert isinstance(summary, RunSummary)
        return summary

    return asyncio.run(served())


def says(sense: int) -> str:
    good, doubt = Score(score=5, reason="Fine."), Score(score=sense, reason="Who would want that?")
    return CriticReply(naturalness=good, sense=doubt, feasibility=good).model_dump_json()


def test_what_the_critic_thinks_too_little_of_is_rejected_with_its_reason(
    prefect_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRITIC_KEY", KEY)
    asked: list[str] = []

    def every_other(call: WireCall) -> str:
        asked.append(call.turns[0])
        return f"My view:\n```json\n{says(2 if len(asked) % 2 else 4)}\n```"

    summary = build(tmp_path, every_other, "critic.share=1", "critic.reject_below=3")
    with Warehouse(tmp_path / "warehouse", read_only=True) as store:
        scored = {item.task_id: item.sense.score for item in store.read(Criticism)}
        validated = {
            str(row[0]) for row in store.query("SELECT task_id FROM tasks WHERE status = 'validated'").rows()
        }
        rejected = {
            str(row[0]): str(row[1])
            for row in store.query("SELECT item_id, message FROM rejections WHERE reason = 'critic'").rows()
        }
    assert len(scored) == len(asked) >= 2
    assert validated == {name for name, score in scored.items() if score == 4}
    assert rejected == {
        name: "sense 2 of 5: Who would want that?" for name, score in scored.items() if score == 2
    }
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        calls = [call for call in ledger.calls() if call.role is ModelRole.CRITIC]
    assert len(calls) == len(scored) and {call.stage for call in calls} == {"criticism"}
    shown = summary.describe()
    assert f"({len(scored)} tasks, by openai/m)" in shown
    assert (
        "tasks rejected: critic" in shown.replace("tasks rejected by", "tasks rejected:") or "critic" in shown
    )


def test_tasks_that_do_well_enough_on_the_whole_are_published_and_others_are_not(
    prefect_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRITIC_KEY", KEY)
    poor = build(tmp_path, lambda call: says(3), "critic.share=1", "critic.minimum_mean={sense: 3.5}")
    assert poor.version == ""
    assert "sense 3.00 (critic.minimum_mean: 3.5)" in poor.not_published
    assert "not published: The critic" in poor.describe()
    accepted = build(tmp_path, lambda call: says(3), "critic.share=1", "critic.minimum_mean={sense: 3}")
    assert accepted.version and not accepted.not_published
