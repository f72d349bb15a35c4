"""A function that finds all values, but not together, is not acceptable."""

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.synthesis.examination.examination import build_cases, examine
from taskloom.synthesis.examination.verdict import Thresholds, feedback
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.recordings import click, control, file, recording, screen

SALES = "region,contact\nNorth,Ann\nSouth,Ben\n"
BEGIN = "def evaluate_agent_task_completion(region: str, contact: str) -> EvalResult:\n    done = "
TOGETHER = "check_record('Documents/sales.csv', {'region': region, 'contact': contact})"
APART = (
    "check_record('Documents/sales.csv', {'region': region})"
    " and check_record('Documents/sales.csv', {'contact': contact})"
)
ANYWHERE = (
    "check_file_contains('Documents/sales.csv', region) and check_file_contains('Documents/sales.csv',"
    " contact)"
)


def row_added() -> Trajectory:
    done = (file("Documents/sales.csv", f"{SALES}West,Cid\n"),)
    moves = [click("New"), click("Save", files=done)]
    start = {"files": (file("Documents/sales.csv", SALES),)}
    return recording("tables.add", {"region": "West", "contact": "Cid"}, moves, start=start)


def missed(shared_sandbox: EvaluationSandbox, condition: str) -> set[str]:
    source = f"{BEGIN}{condition}\n    return EvalResult(done, 'row', 1.0 if done else 0.0)\n"
    quality = examine(source, row_added(), build_cases(row_added()), shared_sandbox)
    assert quality.passes_positive
    return {item.family for item in quality.families if item.killed < item.total}


def test_values_asked_for_together_are_found_together(shared_sandbox: EvaluationSandbox) -> None:
    assert not missed(shared_sandbox, TOGETHER) & {"swapped_values", "half_records"}


def test_values_asked_for_one_by_one_may_stand_in_two_rows(shared_sandbox: EvaluationSandbox) -> None:
    assert "half_records" in missed(shared_sandbox, APART)


def test_values_asked_for_anywhere_may_be_exchanged(shared_sandbox: EvaluationSandbox) -> None:
    assert {"swapped_values", "half_records"} <= missed(shared_sandbox, ANYWHERE)


@pytest.mark.parametrize(
    "source", ["import os\n", "def evaluate_agent_task_completion(region: str) -> bool:\n    return True\n"]
)
def test_a_refused_function_is_told_why_and_nothing_else(
    shared_sandbox: EvaluationSandbox, source: str
) -> None:
    quality = examine(source, row_added(), build_cases(row_added()), shared_sandbox)
    told = feedback(quality, Thresholds())
    assert quality.families == ()
    assert "refused: " in told
    assert "did not say" not in told and "other subtasks" not in told


def test_a_crash_on_wrong_work_is_no_success(shared_sandbox: EvaluationSandbox) -> None:
    source = f"{BEGIN}{TOGETHER}\n    if not done:\n        [][0]\n    return EvalResult(done, 'row', 1.0)\n"
    told = feedback(examine(source, row_added(), build_cases(row_added()), shared_sandbox))
    assert "It did not say failure although:" in told
    assert "it gave no answer: crashed" in told


def shape_added(instruction: str) -> Trajectory:
    shown = click("Save", controls=screen(control("Router", "Text")))
    return recording("draw.add", {"label": "Router"}, [shown], instruction=instruction)
