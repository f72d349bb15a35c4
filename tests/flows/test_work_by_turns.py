"""Branches worked on by turns, a forbidden order, undone and damaged work, judged as attempts are: on what
recorded performances changed, with the functions that are written for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.flows.stages.attempt_judging import AttemptJudge, judge_recording
from taskloom.omnieval.scoring import GraphEvaluation
from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.synthesis.cross_verification.clean_work import SideEffectAccount
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.evidence import Evidence, FileState
from taskloom.taskgraph.records.graph import Dependency, TaskGraph
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.recordings import click, file, recording
from tests.synthesis.test_functions_written_again import KEPT, PATIENT, kept_subtask, written_again

NOTE, LONGER, DRAWN = "tiddlywiki.create_note", "tiddlywiki.extend_note", "drawio.draw_and_save"
TEXT = "jupyterlab.extend_text_file"
BOOKED, CLOSED, CUSTOMER = "fava.add_transaction", "trac.close_ticket", "sqlite_web.insert_customer"
Branch = tuple[str, str]
PAIRS: dict[str, tuple[Branch, Branch]] = {
    "notes and files": ((NOTE, LONGER), (DRAWN, TEXT)),
    "a ledger and a database": ((BOOKED, NOTE), (CUSTOMER, DRAWN)),
    "a ticket and a longer note": ((CLOSED, TEXT), (LONGER, CUSTOMER)),
}
States = dict[str, FileState]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[EvaluationSandbox]:
    with EvaluationSandbox(PATIENT) as running:
        yield running


def performed(name: str) -> Trajectory:
    return KEPT[name].trajectories()[0]


@cache
def written(name: str) -> VerifiedSubtask:
    subtask, (reason, source) = kept_subtask(name), written_again(name)
    assert not reason
    function = EvaluationFunction(function_id=name, subtask_id=name, source=source)
    return VerifiedSubtask(subtask=subtask, function=function, trajectories=tuple(KEPT[name].trajectories()))


def node(name: str) -> BoundSubtask:
    return BoundSubtask(
        instance_id=name,
        subtask_id=name,
        application=name.partition(".")[0],
        application_category="",
        instruction="",
        parameters=performed(name).parameters,
    )


def task(*branches: Sequence[str]) -> Task:
    passed = Resource(category="step", kind=ResourceKind.RECORD, value="x")
    edges = [
        Dependency(producer=one, consumer=two, resource=passed)
        for branch in branches
        for one, two in pairwise(branch)
    ]
    nodes = tuple(node(name) for branch in branches for name in branch)
    graph = TaskGraph(nodes=nodes, edges=tuple(edges))
    return Task.model_construct(task_id="task", graph=graph)  # type: ignore[call-arg]


def after(state: States, name: str) -> States:
    """The state with what a performance changed."""
    done = performed(name)
    old, new = done.initial_evidence.files_by_path(), done.final_evidence.files_by_path()
    kept = {path: item for path, item in state.items() if path not in old or path in new}
    return kept | {path: item for path, item in new.items() if item != old.get(path)}


def judged(
    asked: Task, moves: Sequence[States], start: States, sandbox: EvaluationSandbox
) -> GraphEvaluation:
    names = [item.subtask_id for item in asked.graph.nodes]
    verified = {name: written(name) for name in names}
    folders = {path for name in names for path in performed(name).initial_evidence.directories}

    def seen(files: States) -> dict[str, object]:
        return {"files": tuple(files[path] for path in sorted(files)), "directories": tuple(sorted(folders))}

    attempt = recording("attempt", {}, [click("Save", **seen(files)) for files in moves], start=seen(start))
    judge = AttemptJudge(asked, SideEffectAccount(verified), sandbox, patience=20, step_limit=20)
    return judge_recording(judge, attempt).outcome


def beginning(names: Sequence[str]) -> States:
    found: States = {}
    for name in reversed(names):
        evidence: Evidence = performed(name).initial_evidence
        found |= evidence.files_by_path()
    return found


def in_order(names: Sequence[str], start: States) -> list[States]:
    states = [start]
    for name in names:
        states.append(after(states[-1], name))
    return states[1:]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("pair", PAIRS)
def test_two_branches_worked_on_by_turns_are_both_completed(
    sandbox: EvaluationSandbox, pair: str, first: int
) -> None:
    one, two = PAIRS[pair][first], PAIRS[pair][1 - first]
    order = [one[0], two[0], one[1], two[1]]
    start = beginning(order)
    found = judged(task(one, two), in_order(order, start), start, sandbox)
    assert found.success and found.completed == tuple(order)
    assert found.coverage_rate == 1.0 and found.lost == ()
    assert found.side_effects is not None and found.side_effects.total == 0


def test_a_task_begun_in_a_forbidden_order_gets_credit_for_what_was_not_forbidden(
    sandbox: EvaluationSandbox,
) -> None:
    start = beginning([NOTE, CUSTOMER])
    found = judged(task((NOTE, CUSTOMER)), in_order([CUSTOMER, NOTE], start), start, sandbox)
    assert not found.success and found.completed == (NOTE,)
    assert found.coverage_rate == pytest.approx(1 / 3)


def test_work_that_was_undone_did_not_hold(sandbox: EvaluationSandbox) -> None:
    start = beginning([NOTE, CUSTOMER])
    made = after(start, NOTE)
    found = judged(task((NOTE,), (CUSTOMER,)), [made, start, after(start, CUSTOMER)], start, sandbox)
    assert set(found.completed) == {NOTE, CUSTOMER}
    assert found.lost == (NOTE,) and found.held is False


def test_damage_beside_right_work_is_not_clean(sandbox: EvaluationSandbox) -> None:
    start = beginning([NOTE, CUSTOMER]) | {"Documents/kept.txt": file("Documents/kept.txt", "x")}
    end = after(after(start, NOTE), CUSTOMER)
    del end["Documents/kept.txt"]
    found = judged(task((NOTE,), (CUSTOMER,)), [after(start, NOTE), end], start, sandbox)
    assert found.success and found.side_effects is not None and found.side_effects.files_lost == 1
    assert found.clean is False and found.held is True
