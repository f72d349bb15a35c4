"""The critic sees a task and nothing of how it was made; its scores decide only what the settings let them
decide."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from taskloom.model_clients.errors import ReplyInvalidError
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.role_models import RoleModels
from taskloom.model_clients.settings import CallSettings, ModelSettings
from taskloom.prompts.inputs import CriticInput
from taskloom.prompts.replies import CriticReply
from taskloom.synthesis.criticism import (
    CriticSettings,
    criticise_task,
    doubt_about_tasks,
    rejection_by,
)
from taskloom.synthesis.instructions import in_order
from taskloom.synthesis.validation.validation import ValidationSettings, validate_task
from taskloom.taskgraph.measures.acceptance_rates import critic_report
from taskloom.taskgraph.records.criticism import Criticism, Score
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.task import Task
from tests.model_clients.requests import KEY
from tests.servers.models.careless.careless_model import answer
from tests.servers.models.server import LocalModelServer
from tests.synthesis.models import TestModels
from tests.synthesis.simulated_world import PROVENANCE
from tests.synthesis.task_samples import TITLES, sample_tasks

REPLY = CriticReply(
    naturalness=Score(score=4, reason="“that file” is a little vague."),
    sense=Score(score=2, reason="Nobody uses the copy."),
    feasibility=Score(score=5, reason="Every name is given."),
)


async def a_task() -> Task:
    task = next(task for task in sample_tasks(80) if len(task.graph.pairs) >= 2)
    done = await validate_task(
        task, TITLES, models=TestModels({}), settings=ValidationSettings(), provenance=PROVENANCE
    )
    return done.task


def criticism(*scores: int, task_id: str = "t", critic: str = "openai/large") -> Criticism:
    naturalness, sense, feasibility = (Score(score=score, reason="so") for score in scores)
    return Criticism(
        criticism_id=f"{task_id}:{critic}",
        task_id=task_id,
        instruction="Do it.",
        naturalness=naturalness,
        sense=sense,
        feasibility=feasibility,
        critic=critic,
    )


async def test_the_critic_sees_the_task_and_nothing_of_how_it_was_made() -> None:
    task = await a_task()
    models = TestModels({}, scripted={ModelRole.CRITIC: [REPLY]})
    found = await criticise_task(task, TITLES, models=models, critic="openai/large", provenance=PROVENANCE)
    (call,) = models.calls[ModelRole.CRITIC]
    asked = call.question
    assert isinstance(asked, CriticInput)
    order = [node.instance_id for node in in_order(task)]
    assert {(order[pair.before - 1], order[pair.after - 1]) for pair in asked.dependencies} == set(
        task.graph.pairs
    )
    shown = asked.rendered()
    text = shown.system + shown.user
    assert task.instruction in shown.user
    assert all(node.instruction in shown.user for node in task.graph.nodes)
    assert not any(node.subtask_id in text or node.instance_id in text for node in task.graph.nodes)
    assert not any(resource.category in text for node in task.graph.nodes for resource in node.outputs)
    assert (found.sense, found.instruction, found.critic) == (REPLY.sense, task.instruction, "openai/large")
    assert found.provenance.stage == "criticism"


@pytest.mark.parametrize(
    "reply", ['{"score": 6, "reason": "great"}', '{"score": 3, "reason": " "}', '{"score": 3}']
)
async def test_a_score_out_of_range_or_without_a_reason_is_no_reply(reply: str) -> None:
    text = f'{{"naturalness": {reply}, "sense": {reply}, "feasibility": {reply}}}'
    models = TestModels({}, scripted={ModelRole.CRITIC: [text]})
    with pytest.raises(ReplyInvalidError):
        await criticise_task(await a_task(), TITLES, models=models, critic="m", provenance=PROVENANCE)


def test_only_a_threshold_rejects_and_the_reasons_are_told() -> None:
    low = criticism(4, 2, 5)
    assert rejection_by(low, CriticSettings()) is None
    assert rejection_by(low, CriticSettings(reject_below=2)) is None
    rejection = rejection_by(low, CriticSettings(reject_below=3))
    assert rejection is not None
    assert (rejection.reason, rejection.item_id) == ("critic", "t")
    assert rejection.message == "sense 2 of 5: so"


def test_means_forbid_publication_from_ten_tasks_on() -> None:
    settings = CriticSettings.model_validate({"minimum_mean": {"sense": 3.5}})
    few = critic_report([criticism(5, 1, 5, task_id=str(number)) for number in range(9)])
    many = critic_report([criticism(1, 3 + number % 2, 5, task_id=str(number)) for number in range(10)])
    poor = critic_report([criticism(5, 3, 5, task_id=str(number)) for number in range(10)])
    assert doubt_about_tasks(None, settings) == doubt_about_tasks(few, settings) == ""
    assert doubt_about_tasks(many, settings) == ""
    assert "sense 3.00 (critic.minimum_mean: 3.5)" in doubt_about_tasks(poor, settings)
    assert doubt_about_tasks(poor, CriticSettings()) == ""
    with pytest.raises(ValidationError):
        CriticSettings.model_validate({"minimum_mean": {"beauty": 3}})


def test_figures_name_a_critic_that_judges_its_own_writing() -> None:
    report = critic_report([criticism(5, 4, 4), criticism(5, 2, 4, task_id="u")], {"openai/large"})
    assert report is not None
    assert report.means == {"naturalness": 5, "sense": 3, "feasibility": 4}
    assert (report.good.count, report.good.of) == (1, 2)
    assert "openai/large both wrote instructions and scored" in dict(report.lines())["warning"]
    assert "warning" not in dict((critic_report([criticism(5, 5, 5)], {"other/model"}) or report).lines())


async def test_a_careless_critic_over_the_wire_is_read_and_kept_in_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    task = await a_task()
    async with LocalModelServer(answerer=answer, key=KEY) as server:
        model = ModelSettings(provider="openai", model="m", base_url=server.url, api_key_variable="TEST_KEY")
        with Ledger(tmp_path / "ledger.sqlite") as ledger:
            async with RoleModels(CallSettings(default=model), ledger) as models:
                named, unnamed = [
                    await criticise_task(
                        task.model_copy(update={"instruction": text}),
                        TITLES,
                        models=models,
                        critic="openai/m",
                        provenance=PROVENANCE,
                    )
                    for text in (task.instruction, "Do the usual things.")
                ]
            calls = list(ledger.calls())
    assert named.feasibility.score > unnamed.feasibility.score
    assert {(call.role, call.stage, call.item_id) for call in calls} == {
        (ModelRole.CRITIC, "criticism", task.task_id)
    }
