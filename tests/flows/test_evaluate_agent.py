"""Agents attempt tasks of a small simulated dataset and are scored by the graph."""

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskloom.environments.agent import Decision
from taskloom.environments.errors import ApplicationStartFailedError
from taskloom.environments.machines.sandbox import Sandbox
from taskloom.flows.errors import CommandError
from taskloom.taskgraph.records.agent_run import AgentRun
from taskloom.taskgraph.records.side_effects import SideEffects
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.sets.selection import Selection
from taskloom.warehouse.store import Warehouse
from tests.flows.conftest import whole_settings

if TYPE_CHECKING:
    from taskloom.flows.evaluate_agent import AgentReport

HARDEST_FIRST = Selection(where="node_count >= 3", size=3)


class Idle:
    """An agent that gives up at once."""

    async def decide(self, instruction: str, observation: object, history: object) -> Decision:
        assert instruction
        return Decision(status="give_up", message="I would rather not")


class Silent:
    """No agent."""


@pytest.fixture(scope="module")
def data(built_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(built_data, tmp_path_factory.mktemp("evaluated") / "data"))


def evaluate(data: Path, agent: str, selection: Selection = HARDEST_FIRST) -> "AgentReport":
    from taskloom.flows.evaluate_agent import evaluate_agent

    return asyncio.run(evaluate_agent(agent, selection, settings=whole_settings(data)))


def attempts(data: Path, run_id: str) -> list[AgentRun]:
    with Warehouse(data / "warehouse", read_only=True) as warehouse:
        return list(warehouse.read(AgentRun, "run_id = ?", [run_id]))


@pytest.mark.slow
def test_recorded_work_completes_every_subtask_in_an_order_of_the_graph(data: Path) -> None:
    report = evaluate(data, "recorded")
    assert report.attempts == 3
    assert report.rows[0].name == "all"
    assert report.rows[0].success_rate == report.rows[0].coverage_rate == 1
    for attempt in attempts(data, report.run_id):
        assert attempt.success
        assert attempt.outcome == "completed"
        assert len(attempt.completed) >= 3
        steps = [item.step for item in attempt.completed]
        assert steps == sorted(steps)
        assert steps[-1] == attempt.steps
    with Warehouse(data / "warehouse", read_only=True) as warehouse:
        recorded = {item.trajectory_id for item in warehouse.read(Trajectory, "run_id = ?", [report.run_id])}
    assert recorded == {item.trajectory_id for item in attempts(data, report.run_id)}


@pytest.mark.slow
def test_an_agent_that_does_nothing_covers_nothing(data: Path) -> None:
    report = evaluate(data, f"{__name__}:Idle")
    assert report.rows[0].coverage_rate == report.rows[0].success_rate == 0
    for attempt in attempts(data, report.run_id):
        assert (attempt.termination, attempt.message) == ("gave_up", "I would rather not")
        assert attempt.completed == ()
        assert attempt.outcome == "finished_early"


@pytest.mark.slow
def test_an_attempt_that_leaves_everything_else_alone_has_no_side_effects(data: Path) -> None:
    report = evaluate(data, f"{__name__}:Idle")
    assert report.rows[0].side_effects == 0
    assert report.rows[0].clean_success_rate == 0
    assert {attempt.side_effects for attempt in attempts(data, report.run_id)} == {SideEffects()}


@pytest.mark.parametrize("spoil", ["no fixtures", "dead"])
@pytest.mark.slow
def test_an_attempt_from_a_wrong_start_counts_for_nothing(
    data: Path, monkeypatch: pytest.MonkeyPatch, spoil: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ApplicationStartFailedError("the port never opened")

    monkeypatch.setattr(Sandbox, "lay_fixtures", fail if spoil == "dead" else lambda *_, **__: None)
    report = evaluate(data, "recorded", Selection(where="node_count >= 2", size=20))

    done = attempts(data, report.run_id)
    invalid = [attempt for attempt in done if attempt.outcome == "invalid"]
    assert invalid
    assert report.invalid == len(invalid)
    assert sum(row.tasks for row in report.rows if row.name == "all") == len(done) - len(invalid)
    for attempt in invalid:
        assert not attempt.success
        assert attempt.completed == ()
        assert attempt.side_effects is None
        assert attempt.steps == 0
    if spoil == "dead":
        assert len(invalid) == len(done)


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("best", "neither `model`, `recorded` nor"),
        ("no_such_module:make", "cannot be imported"),
        (f"{__name__}:missing", "has no function or class 'missing'"),
        (f"{__name__}:Silent", "which has no `async def decide"),
    ],
)
@pytest.mark.slow
def test_what_is_no_agent_is_refused(data: Path, agent: str, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        evaluate(data, agent)


@pytest.mark.slow
def test_a_selection_without_tasks_is_told(data: Path) -> None:
    with pytest.raises(CommandError, match="no task to attempt: 0 are selected"):
        evaluate(data, "recorded", Selection(where="node_count > 100"))


def test_the_command_names_what_is_allowed() -> None:
    command = [sys.executable, "-m", "taskloom.cli.main", "evaluate", "--instructions", "middle"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "--instructions is 'middle'; it is high or low." in done.stderr
