"""Attempts of agents on the page of their task, on the overview and in the report."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from taskloom.taskgraph.records.agent_run import AgentRun, CompletedSubtask
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.charts import agent_figures
from taskloom.warehouse.viewer.report import write_report
from tests.warehouse.viewer.conftest import HOSTILE, client_of


@pytest.fixture(scope="module")
def attempted(filled_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    place = tmp_path_factory.mktemp("attempted") / "warehouse"
    shutil.copytree(filled_template, place)
    with Warehouse(place) as opened:
        first, second = (
            node.instance_id for node in next(opened.read(Task, "task_id = 'task-1'")).graph.nodes
        )
        recorded = next(opened.read(Trajectory, "trajectory_id = 'recording-1'", pictures=True))
        opened.write([recorded.model_copy(update={"trajectory_id": "attempt-1", "subtask_id": "task-1"})])
        done = (CompletedSubtask(instance_id=first, step=2), CompletedSubtask(instance_id=second, step=5))
        opened.write(
            [
                AgentRun(
                    agent_run_id="a",
                    agent="my.agents:make",
                    task_id="task-1",
                    instruction="Do it.",
                    completed=done,
                    coverage_rate=1.0,
                    success=True,
                    steps=5,
                    outcome="completed",
                    trajectory_id="attempt-1",
                    provenance=Provenance(run_id="run-9"),
                ),
                AgentRun(
                    agent_run_id="b",
                    agent="my.agents:make",
                    task_id="task-1",
                    instruction="Do it.",
                    completed=done[:1],
                    coverage_rate=0.25,
                    logical_consistency=0.5,
                    steps=1,
                    outcome="finished_early",
                    termination="gave_up",
                    message=HOSTILE,
                    provenance=Provenance(run_id="run-9"),
                ),
            ]
        )
    with Warehouse(place, read_only=True) as opened:
        yield opened


def test_means_are_over_the_attempts_of_a_run(attempted: Warehouse) -> None:
    (row,) = agent_figures(attempted)
    assert (row["run_id"], row["tasks"], row["attempts"]) == ("run-9", 1, 2)
    assert (row["success_rate"], row["coverage_rate"], row["steps"]) == (0.5, 0.625, 3.0)
    assert (row["logical_consistency"], row["consistency_defined"]) == (0.5, 1)


def test_the_page_of_a_task_shows_what_agents_completed(attempted: Warehouse) -> None:
    text = client_of(attempted).get("/tasks/task-1").text
    for part in (
        "my.agents:make",
        "2 of 2 subtasks, weighted by depth",
        "25%",
        "not defined",
        "5 steps",
        "1 step,",
        'title="after step 2"',
        'href="/trajectories/attempt-1"',
        "finished early, gave up",
        "&lt;script&gt;",
    ):
        assert part in text, part
    assert "<script>alert" not in text


@pytest.mark.parametrize("trajectory", ["attempt-1", "recording-1"])
def test_the_trajectory_of_a_task_leads_to_the_task(attempted: Warehouse, trajectory: str) -> None:
    text = client_of(attempted).get(f"/trajectories/{trajectory}").text
    assert "Trajectory of task task-1" in text and 'href="/tasks/task-1"' in text
    assert "/subtasks/task" not in text


def test_the_overview_and_the_report_show_agents(attempted: Warehouse, tmp_path: Path) -> None:
    report = write_report(attempted, tmp_path / "report.html").read_text(encoding="utf-8")
    for text in (client_of(attempted).get("/").text, report):
        for part in (
            "<h2>Agents</h2>",
            "my.agents:make",
            "run-9",
            "62%",
            '50% <span class="soft">of 1</span>',
        ):
            assert part in text, part


def test_without_attempts_there_is_no_such_section(sampled: Warehouse, tmp_path: Path) -> None:
    client = client_of(sampled)
    assert "<h2>Agents</h2>" not in client.get("/").text
    assert "Attempts of agents" not in client.get("/tasks/task-1").text
    report = write_report(sampled, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h2>Agents</h2>" not in report and "present state" not in report


def test_an_agent_of_the_overview_leads_to_its_attempts(attempted: Warehouse) -> None:
    pages = client_of(attempted)
    overview = pages.get("/").text
    address = "/attempts?agent=my.agents%3Amake&amp;run=run-9"
    assert f'href="{address}"' in overview
    text = pages.get(address.replace("&amp;", "&")).text
    assert 'href="/trajectories/attempt-1"' in text
    assert text.count('href="/tasks/task-1"') == 2
    assert text.index("finished early") < text.index("completed</span>")
    assert pages.get("/attempts?agent=nobody").status_code == 404
