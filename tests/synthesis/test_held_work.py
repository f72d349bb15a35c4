"""Whether what a task did is still done at its end."""

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.synthesis.cross_verification.clean_work import Completion, SideEffectAccount
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.recordings import click, file, recording


def verified(name: str, condition: str, performances: list[Trajectory]) -> VerifiedSubtask:
    source = f"def evaluate_agent_task_completion(path: str):\n    return {condition}\n"
    return VerifiedSubtask(
        subtask=Subtask(
            subtask_id=name, application="notes", application_category="", instruction_template="{path}"
        ),
        function=EvaluationFunction(function_id=name, subtask_id=name, source=source),
        trajectories=tuple(performances),
    )


def attach(path: str) -> Trajectory:
    return recording("notes.attach", {"path": path}, [click("Save", files=(file(path, f"{path}!"),))])


def remove(path: str) -> Trajectory:
    return recording(
        "notes.remove", {"path": path}, [click("Close", files=())], start={"files": (file(path, "x"),)}
    )


ACCOUNT = SideEffectAccount(
    {
        "notes.attach": verified("notes.attach", "check_file_exists(path)", [attach("a"), attach("b")]),
        "notes.remove": verified("notes.remove", "check_file_missing(path)", [remove("c"), remove("d")]),
    }
)


def node(subtask_id: str, path: str) -> BoundSubtask:
    return BoundSubtask(
        instance_id=f"{subtask_id} {path}",
        subtask_id=subtask_id,
        application="notes",
        application_category="",
        instruction="",
        parameters={"path": path},
    )


def state(*paths: str) -> Evidence:
    return Evidence(step=0, files=tuple(file(path, f"{path}!") for path in paths))


@pytest.mark.parametrize(
    ("later", "end", "lost"),
    [
        (("notes.attach", "report"), ("report",), ("notes.attach table",)),
        (("notes.attach", "report"), ("report", "table"), ()),
        (("notes.remove", "table"), (), ()),
    ],
    ids=["attached, deleted, attached", "both are there", "consumed by the task itself"],
)
def test_what_is_gone_at_the_end_did_not_hold_unless_the_task_took_it(
    shared_sandbox: EvaluationSandbox, later: tuple[str, str], end: tuple[str, ...], lost: tuple[str, ...]
) -> None:
    done = [
        Completion(node("notes.attach", "table"), state(), state("table")),
        Completion(node(*later), state("table"), state(*end)),
    ]
    assert ACCOUNT.lost(done, state(*end), shared_sandbox) == lost


def test_damage_is_no_part_of_a_task() -> None:
    nodes = [node("notes.attach", "table")]
    assert ACCOUNT.of(nodes, state("kept"), state("kept", "table")).total == 0
    assert ACCOUNT.of(nodes, state("kept"), state("table")).files_lost == 1
