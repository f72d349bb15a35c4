from random import Random

import pytest

from taskloom.prompts.replies import DependencyJudgeReply
from taskloom.synthesis.validation.calibration import SPOIL_KINDS, doubt_about, spoil, try_judge
from taskloom.synthesis.validation.validation import ValidationSettings
from taskloom.taskgraph.measures.acceptance_rates import judge_report
from taskloom.taskgraph.records.criticism import JudgeTrial, SpoilKind
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Task, Validation
from tests.synthesis.models import TestModels
from tests.synthesis.simulated_world import PROVENANCE
from tests.synthesis.task_samples import TITLES, sample_tasks

TASKS = sample_tasks(80)


def told(task: Task) -> str:
    return " ".join(node.instruction for node in task.graph.nodes)


@pytest.mark.parametrize("kind", SPOIL_KINDS)
def test_every_kind_changes_some_instructions_and_the_same_way_every_time(kind: SpoilKind) -> None:
    spoilt = {task.task_id: spoil(told(task), task, kind, TASKS, Random(1)) for task in TASKS}
    found = [text for text in spoilt.values() if text is not None]
    assert len(found) > len(TASKS) // 4
    assert all(spoilt[task.task_id] != told(task) for task in TASKS)
    again = {task.task_id: spoil(told(task), task, kind, TASKS, Random(1)) for task in TASKS}
    assert again == spoilt


def test_what_is_left_out_loses_a_value_and_what_is_added_is_foreign() -> None:
    for task in TASKS[:20]:
        values = {value for node in task.graph.nodes for value in node.parameters.values()}
        shorter = spoil(told(task), task, "left_out", TASKS, Random(1))
        if shorter is not None:
            assert any(value not in shorter for value in values)
        longer = spoil(told(task), task, "foreign_deed", TASKS, Random(1))
        own = {node.subtask_id for node in task.graph.nodes}
        foreign = {
            node.instruction for item in TASKS for node in item.graph.nodes if node.subtask_id not in own
        }
        assert longer is not None
        assert any(instruction in longer for instruction in foreign)


def test_what_goes_to_the_same_place_is_not_exchanged() -> None:
    def attached(number: int, kind: str, path: str, page: str) -> BoundSubtask:
        return (
            TASKS[0]
            .graph.nodes[0]
            .model_copy(
                update={
                    "instance_id": str(number),
                    "subtask_id": f"trac.attach_{kind}",
                    "application": "trac",
                    "parameters": {"path": path, "page": page},
                }
            )
        )

    def exchanged(page: str) -> str | None:
        nodes = (
            attached(1, "csv", "Documents/a.csv", "Monday"),
            attached(2, "text", "Documents/b.txt", page),
        )
        task = TASKS[0].model_copy(update={"graph": TASKS[0].graph.model_copy(update={"nodes": nodes})})
        text = f"Attach Documents/a.csv to Monday and Documents/b.txt to {page}."
        return spoil(text, task, "exchanged", TASKS, Random(1))

    assert exchanged("Monday") is None
    assert exchanged("Friday") is not None


async def test_a_judge_that_notices_nothing_has_no_hits() -> None:
    task = TASKS[0].model_copy(update={"instruction": told(TASKS[0])})
    blind = TestModels({}, scripted={ModelRole.DEPENDENCY_JUDGE: [DependencyJudgeReply(dependencies=[])]})
    trial = await try_judge(task, TITLES, TASKS[1:], models=blind, attempt=9, provenance=PROVENANCE)
    assert trial is not None
    assert trial.noticed == bool(task.graph.pairs)
    question = blind.calls[ModelRole.DEPENDENCY_JUDGE][0].question
    assert set(question.model_dump()) == {"instruction", "subtasks"}
    assert question.instruction == trial.instruction


def test_rates_count_hits_by_kind_and_refused_first_instructions() -> None:
    trials = [
        JudgeTrial(trial_id="1", task_id="a", kind="left_out", instruction="x", noticed=True),
        JudgeTrial(trial_id="2", task_id="b", kind="left_out", instruction="x", noticed=False),
        JudgeTrial(trial_id="3", task_id="c", kind="exchanged", instruction="x", noticed=True),
    ]
    rounds = [
        Validation(validation_id="a:1", task_id="a", round=1, instruction="x", accepted=False),
        Validation(validation_id="a:2", task_id="a", round=2, instruction="x", accepted=True),
        Validation(validation_id="b:1", task_id="b", round=1, instruction="x", accepted=True),
        Validation(
            validation_id="c:1",
            task_id="c",
            round=1,
            instruction="x",
            literal_problems=("y",),
            accepted=False,
        ),
    ]
    report = judge_report(trials, rounds)
    assert report is not None
    assert (report.hits.count, report.hits.of) == (2, 3)
    assert report.hits_by_kind["left_out"].share == 0.5
    assert (report.false_alarms.count, report.false_alarms.of) == (1, 2)
    assert judge_report([], rounds) is None


def trials(noticed: int, of: int) -> list[JudgeTrial]:
    return [
        JudgeTrial(
            trial_id=f"{number}", task_id="a", kind="exchanged", instruction="x", noticed=number < noticed
        )
        for number in range(of)
    ]


def first_rounds(accepted: int, of: int) -> list[Validation]:
    return [
        Validation(
            validation_id=f"{number}", task_id="a", round=1, instruction="x", accepted=number < accepted
        )
        for number in range(of)
    ]


def test_a_judge_that_notices_too_little_or_refuses_too_much_is_doubted() -> None:
    settings = ValidationSettings(minimum_hits=0.8, maximum_false_alarms=0.1)
    assert doubt_about(None, settings) == ""
    assert doubt_about(judge_report(trials(0, 5), []), settings) == ""
    assert doubt_about(judge_report(trials(18, 20), first_rounds(10, 10)), settings) == ""
    assert "minimum_hits is 80%" in doubt_about(judge_report(trials(12, 20), first_rounds(10, 10)), settings)
    assert "maximum_false_alarms is 10%" in doubt_about(
        judge_report(trials(20, 20), first_rounds(6, 10)), settings
    )
