"""Which scores a later version makes invalid: one change at a time, each with its reason."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from taskloom.resources.applications import Application, Fixture
from taskloom.resources.record import Record
from taskloom.taskgraph.records.agent_run import AgentRun
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import VersionError
from taskloom.warehouse.exporting.exporting import export
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.versions import score_validity, tag
from tests.warehouse.samples import records


def one(kind: type[Record], **conditions: object) -> Record:
    return next(
        item
        for item in records()
        if isinstance(item, kind) and all(getattr(item, name) == value for name, value in conditions.items())
    )


def changed_task(**values: object) -> Record:
    return one(Task).model_copy(update=values)


CHANGES: dict[str, Record] = {
    "instruction": changed_task(instruction="Make the report."),
    "gone": changed_task(status="rejected"),
    "graph": changed_task(
        graph=one(Task).graph.model_copy(update={"edges": ()})  # type: ignore[attr-defined]
    ),
    "function": (
        one(EvaluationFunction, subtask_id="notes.create").model_copy(
            update={
                "source": (
                    "def evaluate_agent_task_completion(csv_path):\n    return check_file_exists(csv_path)\n"
                )
            }
        )
    ),
    "fixture": (
        one(Application, name="sheets").model_copy(
            update={"fixtures": (Fixture(category="csv_path", value="Documents/start.csv", content="y"),)}
        )
    ),
}


@pytest.mark.parametrize("reason", CHANGES)
def test_one_change_gives_one_reason(published: Warehouse, reason: str) -> None:
    published.write([CHANGES[reason]], replace=True)
    published.publish("v2")

    found = score_validity(published)

    assert (found.earlier, found.later, found.tasks) == ("v1", "v2", 1)
    assert found.changed == {"task-1": (reason,)}
    assert found.reasons == {reason: 1}


def test_what_an_agent_cannot_notice_makes_no_score_invalid(published: Warehouse) -> None:
    published.write(
        [
            changed_task(intent="Another goal"),
            changed_task(task_id="task-2"),
            one(Application, name="sheets").model_copy(update={"manual": "Click twice."}),
            one(EvaluationFunction, subtask_id="notes.create").model_copy(
                update={"function_id": "not accepted", "accepted": False, "source": "x = 1"}
            ),
        ],
        replace=True,
    )
    published.publish("v2")

    assert score_validity(published, "v2").changed == {}


def test_the_attempts_of_each_agent_are_counted(filled: Warehouse) -> None:
    filled.write(
        [
            changed_task(task_id="task-2"),
            *(
                AgentRun(agent_run_id=f"{agent}:{task}", agent=agent, task_id=task, instruction="")
                for agent, task in (("a", "task-1"), ("a", "task-2"), ("b", "task-2"), ("b", "elsewhere"))
            ),
        ]
    )
    filled.publish("v1")
    filled.write([CHANGES["instruction"]], replace=True)
    filled.publish("v2")

    assert [item.model_dump() for item in score_validity(filled).agents] == [
        {"agent": "a", "attempts": 2, "invalid": 1},
        {"agent": "b", "attempts": 1, "invalid": 0},
    ]


def test_there_are_no_earlier_scores_before_the_first_version(filled: Warehouse) -> None:
    with pytest.raises(VersionError, match="No version is published"):
        score_validity(filled)
    filled.publish("v1")
    with pytest.raises(VersionError, match="v1 is the first version"):
        score_validity(filled)
    with pytest.raises(VersionError, match="no dataset version 'v9'"):
        score_validity(filled, "v1", "v9")


def test_a_tag_names_its_version_and_the_one_before_it_is_compared(published: Warehouse) -> None:
    published.write([CHANGES["instruction"]], replace=True)
    published.publish("v2")
    tag(published, "stable", "v2")
    tag(published, "old", "v1")

    found = score_validity(published, "stable")

    assert (found.earlier, found.later) == ("v1", "stable")
    assert found.changed == {"task-1": ("instruction",)}
    with pytest.raises(VersionError, match="old is the first version"):
        score_validity(published, "old")


@pytest.mark.slow
def test_command_and_card_say_what_changed(published: Warehouse, tmp_path: Path) -> None:
    published.write([CHANGES["function"]], replace=True)
    published.publish("v2")
    arguments = [
        sys.executable,
        "-m",
        "taskloom.cli.main",
        "versions",
        "scores",
        "--warehouse",
        str(published.address),
    ]
    published.close()
    with published.reopened("v2") as opened:
        export(opened, "hugging_face", tmp_path / "out")

    done = subprocess.run(arguments, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "v2 makes the scores of v1 invalid on 1 of 1 tasks" in done.stdout
    assert "1: the evaluation function of a subtask changed" in done.stdout
    card = (tmp_path / "out" / "README.md").read_text()
    assert "Scores on v1 do not count on 1 of its 1 tasks" in card
    assert "- 1: the evaluation function of a subtask changed" in card
