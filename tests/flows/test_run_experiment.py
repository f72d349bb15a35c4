"""Experiments on a small simulated dataset: ends, resuming, scoring again, files."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from taskloom.environments.agent import Decision
from taskloom.environments.errors import ApplicationStartFailedError
from taskloom.environments.machines.sandbox import Sandbox
from taskloom.flows.errors import CommandError
from taskloom.flows.experimenting.checking import read_experiment
from taskloom.flows.experimenting.fixing import selected_tasks
from taskloom.flows.pool import load_verified
from taskloom.flows.wiring import choose_applications
from taskloom.omnieval.errors import UnknownProtocolError
from taskloom.omnieval.experiments import TaskSet
from taskloom.omnieval.protocols import paper
from taskloom.resources.reading.catalog import load_resource_categories
from taskloom.taskgraph.measures.complexity import complexity_of
from taskloom.taskgraph.records.agent_run import AgentRun, AgentScore, AgentStep, Experiment
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.storage.object_storage import Screenshots
from taskloom.warehouse.store import Warehouse
from tests.flows.conftest import whole_settings

if TYPE_CHECKING:
    from taskloom.flows.experimenting.finishing import ExperimentReport

HARDEST = {"where": "node_count >= 3", "size": 3}


class Idle:
    """Gives up at once; synchronous."""

    def __init__(self, task: Any, seed: int) -> None:
        assert task.instruction and "nodes" not in task.model_dump()
        self.seed = seed

    def decide(self, instruction: str, observation: object, history: object) -> Decision:
        assert instruction
        return Decision(status="give_up", message=f"seed {self.seed}")


class Silent:
    """No agent."""


@pytest.fixture(scope="module")
def data(built_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(built_data, tmp_path_factory.mktemp("evaluated") / "data"))


def run(data: Path, **experiment: Any) -> ExperimentReport:
    from taskloom.flows.run_experiment import run_experiment

    content = {"tasks": HARDEST, "quiet_seconds": 0, **experiment}
    return asyncio.run(run_experiment.fn(content, settings=whole_settings(data)))


def attempts(data: Path, report: ExperimentReport) -> list[AgentRun]:
    with Warehouse(data / "warehouse", read_only=True) as warehouse:
        return list(warehouse.read(AgentRun, "experiment_id = ?", [report.experiment_id]))


def with_a_table(data: Path, wanted: TaskSet) -> list[str]:
    """Ids of the wanted tasks, and of one that is written here and reads a table with rows."""
    applications, categories = choose_applications(whole_settings(data))[0], load_resource_categories()
    with Warehouse(data / "warehouse") as warehouse:
        copying = load_verified(warehouse, applications)["simulated_tables.copy_table"]
        node = next(
            item
            for item in copying.instances(categories)
            if item.parameters["csv_path"] == "Documents/sales.csv" and not item.world
        )
        graph = TaskGraph(nodes=(node,))
        reading = Task(
            task_id="reads-a-table",
            graph=graph,
            complexity=complexity_of(graph),
            instruction=node.instruction,
            successful_order_count=1,
            successful_orders=((node.instance_id,),),
            status="validated",
        )
        found = [*selected_tasks(warehouse, wanted), reading.task_id]
        warehouse.write([reading], replace=True)
    return found


def figure(report: ExperimentReport, agent: str, metric: str) -> float | None:
    return next(
        item.value
        for item in report.standings
        if (item.agent, item.metric, item.group) == (agent, metric, "all")
    )


@pytest.mark.slow
def test_recorded_work_succeeds_and_known_faults_are_noticed(data: Path) -> None:
    faults = {"forgets": "forgets_branch", "crashes": "crashes", "breaks": "breaks_something"}
    report = run(
        data,
        name="faults",
        repeats=2,
        agents=[
            "recorded",
            *({"agent": "recorded", "name": k, "settings": {"fault": v}} for k, v in faults.items()),
        ],
    )
    assert (report.attempts, report.wanted, report.invalid, report.status) == (24, 24, 0, "completed")
    assert figure(report, "recorded", "success") == figure(report, "recorded", "coverage_rate") == 1
    assert figure(report, "recorded", "pass^2") == 1
    assert figure(report, "forgets", "success") == 0
    assert 0 < (figure(report, "forgets", "coverage_rate") or 0) < 1
    assert figure(report, "crashes", "success") == pytest.approx(2 / 3)
    assert (figure(report, "breaks", "clean") or 0) < 1
    done = attempts(data, report)
    assert {item.end for item in done if item.agent == "crashes"} == {"success", "agent_error"}
    assert {item.end for item in done if item.agent == "forgets"} == {"partial"}
    for item in done:
        checks = [name for entry in item.unfinished for name in entry.checks]
        assert bool(checks) != item.success, "what is missing is known of failures alone"
        assert not {entry.instance_id for entry in item.unfinished} & {
            entry.instance_id for entry in item.completed
        }
    with Warehouse(data / "warehouse", read_only=True) as warehouse:
        recordings = {item.trajectory_id for item in warehouse.read(Trajectory)}
        assert {item.trajectory_id for item in done} <= recordings
        steps = list(warehouse.read(AgentStep, "agent_run_id = ?", [done[0].agent_run_id]))
        assert set(steps[-1].states) == set(steps[0].states)
        record = next(warehouse.read(Experiment, "name = 'faults'"))
        assert record.holds and record.standings == report.standings
    folder = Path(report.folder)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Capabilities (Table 4)" in page and "Levels (Table 5)" in page
    assert (folder / "tables" / "table_4.tex").read_text().startswith("% Capabilities")
    again = json.loads((folder / "experiment.yaml").read_text())
    assert again["tasks"]["ids"] == list(record.task_ids)
    assert "check_file_text" in (folder / "tables" / "failures.csv").read_text()
    (settings,) = json.loads((folder / "settings.json").read_text()).values()
    assert settings["platform"] == "simulated"
    for name in ("agent_runs.parquet", "agent_steps.parquet", "agent_scores.parquet", "versions.json"):
        assert (folder / name).stat().st_size


@pytest.mark.slow
def test_recorded_is_as_coherent_as_can_be_and_mixing_orders_costs_nothing_else(data: Path) -> None:
    tasks = {"where": "successful_order_count > 1 AND maximum_coherency > 0", "size": 4}
    mixes = {"agent": "recorded", "name": "mixes", "settings": {"fault": "mixes_orders"}}
    report = run(data, name="orders", agents=["recorded", mixes], tasks=tasks)
    for agent in ("recorded", "mixes"):
        assert figure(report, agent, "success") == 1
    assert figure(report, "recorded", "logical_consistency") == 1
    assert (figure(report, "mixes", "logical_consistency") or 0) < 1


@pytest.mark.slow
def test_an_experiment_goes_on_where_it_was_stopped_and_ends_the_same(data: Path) -> None:
    whole = run(data, name="once", agents=["recorded", "random"], repeats=2)
    with Warehouse(data / "warehouse") as warehouse:
        before = {item.agent_run_id: item for item in warehouse.read(AgentRun, "experiment_id = 'once'")}
    for number in range(3):
        with pytest.raises(CommandError, match="finished attempts are kept"):
            run(data, name="stopped", agents=["recorded", "random"], repeats=2, limits={"run_seconds": 0.4})
        assert number >= 0
    with pytest.raises(CommandError, match=r"with other limits; give this one another name"):
        run(data, name="stopped", agents=["recorded", "random"], repeats=2, limits={"steps": 3})
    ended = run(data, name="stopped", agents=["recorded", "random"], repeats=2)
    assert (ended.attempts, ended.status) == (whole.attempts, "completed")
    assert figure(ended, "recorded", "success") == 1
    again = run(data, name="once", agents=["recorded", "random"], repeats=2)
    assert again.standings == whole.standings
    with Warehouse(data / "warehouse") as warehouse:
        after = {item.agent_run_id: item for item in warehouse.read(AgentRun, "experiment_id = 'once'")}
    assert after == before


@pytest.mark.slow
def test_seeds_repeat_and_never_choose_tasks(data: Path) -> None:
    report = run(data, name="seeds", agents=[f"{__name__}:Idle"], seed=7, repeats=2)
    done = attempts(data, report)
    assert {(item.repeat, item.message) for item in done} == {(0, "seed 7"), (1, "seed 8")}
    other = run(data, name="seeds-9", agents=[f"{__name__}:Idle"], seed=9)
    assert {item.task_id for item in attempts(data, other)} == {item.task_id for item in done}
    assert {item.end for item in done} == {"gave_up"}
    assert all(item.clean and not item.completed for item in done)


@pytest.mark.slow
def test_scores_follow_functions_that_changed_without_an_environment(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from taskloom.flows.experimenting.judging_again import score_again

    report = run(data, name="again", agents=["recorded"])

    def no_reset(*_: object, **__: object) -> None:
        raise AssertionError("an environment was reset")

    def no_picture(*_: object) -> bytes:
        raise AssertionError("a picture was read that no check asked for")

    monkeypatch.setattr(Sandbox, "lay_fixtures", no_reset)
    monkeypatch.setattr(Screenshots, "read", no_picture)
    same = score_again(whole_settings(data), "again")
    assert (same.attempts, same.changed, same.without_recording) == (report.attempts, (), 0)
    assert same.report.standings == report.standings
    with Warehouse(data / "warehouse") as warehouse:
        task = attempts(data, report)[0].task_id
        subtask = str(
            warehouse.query("SELECT nodes[1].subtask_id FROM tasks WHERE task_id = ?", [task]).scalar()
        )
        known = list(warehouse.read(EvaluationFunction, "subtask_id = ? AND accepted", [subtask]))
        refusing = [
            item.model_copy(update={"source": item.source.replace("EvalResult(True", "EvalResult(False")})
            for item in known
        ]
        warehouse.write(refusing, replace=True)
    try:
        changed = score_again(whole_settings(data), "again")
        assert changed.changed
        assert figure(changed.report, "recorded", "success") != 1
    finally:
        with Warehouse(data / "warehouse") as warehouse:
            warehouse.write(known, replace=True)
    assert score_again(whole_settings(data), "again").report.standings == report.standings
    with Warehouse(data / "warehouse", read_only=True) as warehouse:
        assert (
            warehouse.count(AgentScore, "experiment_id = 'again' AND metric = 'success'") == report.attempts
        )


@pytest.mark.slow
def test_attempts_with_other_prompts_are_not_mixed_and_scores_say_that_they_changed(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from taskloom.flows.experimenting.judging_again import score_again

    agents = [{"agent": "random", "name": "dice"}]
    made = run(data, name="asked", agents=agents)
    assert not score_again(whole_settings(data), "asked").report.changed
    monkeypatch.setattr(paper, "instruction", lambda task: f"Please: {task.instruction}")
    with pytest.raises(CommandError, match=r"the prompts of dice of the experiment 'asked' have changed"):
        run(data, name="asked", agents=agents)
    again = score_again(whole_settings(data), "asked").report
    assert again.standings == made.standings
    page = (Path(again.folder) / "report.html").read_text(encoding="utf-8")
    assert "The prompts of dice have changed since the attempts were made" in page


@pytest.mark.slow
def test_questions_and_impossible_tasks_are_right_or_wrong_by_rule(data: Path) -> None:
    ids = with_a_table(data, TaskSet(where="node_count <= 3", size=12))
    tasks = {"ids": ids, "questions": True, "impossible": True}
    insists = {"agent": "recorded", "name": "insists", "settings": {"fault": "insists"}}
    agents = ["recorded", insists, f"{__name__}:Idle"]
    report = run(data, name="derived", agents=agents, tasks=tasks)
    with Warehouse(data / "warehouse", read_only=True) as warehouse:
        derived = {
            task.task_id: task for task in warehouse.read(Task, "question IS NOT NULL OR lack IS NOT NULL")
        }
    assert {task.status for task in derived.values()} == {"composed"}
    asked = [item for item in attempts(data, report) if item.task_id in derived]
    assert {derived[item.task_id].lack is None for item in asked} == {True, False}
    for item in asked:
        lack = derived[item.task_id].lack
        if item.agent == "recorded":
            assert (item.answered, item.success, item.clean) == (True, True, True)
        elif lack is None:
            assert (item.answered, item.success) == (False, False)
        else:
            assert item.answered and item.success and item.termination == "gave_up"
            assert item.agent != "insists" or "step" in item.message  # it tried
        assert lack is None or lack.paths[0] in lack.proof
    again = run(data, name="derived", agents=agents, tasks=tasks)
    assert again.standings == report.standings
    with Warehouse(data / "warehouse") as warehouse:
        warehouse.change(
            lambda connection: connection.execute(
                "DELETE FROM tasks WHERE question IS NOT NULL OR lack IS NOT NULL"
            )
        )
    repeat = json.loads((Path(report.folder) / "experiment.yaml").read_text())
    repeated = run(data, **{**repeat, "name": "repeated"})
    assert {(item.agent, item.task_id, item.end) for item in attempts(data, repeated)} == {
        (item.agent, item.task_id, item.end) for item in attempts(data, report)
    }


@pytest.mark.slow
def test_what_the_agent_cannot_have_caused_counts_for_nothing(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ApplicationStartFailedError("the port never opened")

    monkeypatch.setattr(Sandbox, "lay_fixtures", fail)
    report = run(data, name="dead", agents=["recorded"], invalid_tries=2)
    assert not report.holds
    assert report.invalid == report.attempts == 3
    for attempt in attempts(data, report):
        assert (attempt.end, attempt.success, attempt.side_effects) == ("invalid", False, None)
        assert len(attempt.invalid_before) == 1
    monkeypatch.undo()
    mended = run(data, name="dead", agents=["recorded"], invalid_tries=2)
    assert mended.holds and mended.invalid == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("experiment", "message"),
    [
        ({"agents": ["best"]}, "neither one of"),
        ({"agents": ["no_such_module:make"]}, "cannot be imported"),
        ({"agents": [f"{__name__}:missing"]}, "has no function or class 'missing'"),
        ({"agents": [f"{__name__}:Silent"]}, "no method `decide"),
        ({"agents": ["recorded"], "protocol": "papers"}, "Did you mean 'paper'"),
        (
            {"agents": ["recorded"], "tasks": {"where": "node_count > 100"}},
            "No task meets the selection",
        ),
        (
            {"agents": ["recorded"], "tasks": {"ids": ["nothing"]}},
            "1 of the 1 tasks are not in the warehouse",
        ),
        ({"agents": ["recorded", "recorded"]}, "two agents are called 'recorded'"),
        ({"agents": ["recorded"], "repeat": 3}, "repeat"),
        ({"agents": []}, "agents"),
    ],
)
def test_what_cannot_be_measured_is_refused(data: Path, experiment: dict[str, Any], message: str) -> None:
    with pytest.raises((CommandError, UnknownProtocolError), match=message):
        run(data, **experiment)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "experiment.yaml"
    os.mkfifo(pipe)
    with pytest.raises(CommandError, match="not a regular file"):
        read_experiment(pipe)


def test_the_command_names_what_is_allowed() -> None:
    command = [sys.executable, "-m", "taskloom.cli.main", "evaluate", "--instructions", "middle"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "variants" in done.stderr and "'high'" in done.stderr
