"""Experiments in the viewer: live progress, leaderboard, two agents side by side, an attempt step by step."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from taskloom.taskgraph.records.agent_run import AgentRun, AgentStep, Comparison, Experiment, Standing
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.store import Warehouse
from tests.warehouse.viewer.conftest import HOSTILE, client_of

RUNNING = Experiment(
    experiment_id="live",
    name="live",
    protocol="paper",
    agents=("a", "b"),
    attempts=4,
    hashes={"tasks": "1", "prompts of a": "1"},
)
DONE = RUNNING.model_copy(
    update={
        "hashes": {"tasks": "1", "prompts of a": "2", "prompts of b": "1"},
        "experiment_id": "done",
        "name": "done",
        "status": "completed",
        "standings": (
            Standing(agent="a", metric="success", value=0.5, low=0.25, high=0.75, tasks=2),
            Standing(agent="b", metric="success", value=1.0, low=1.0, high=1.0, tasks=2),
        ),
        "comparisons": (
            Comparison(
                first="a",
                second="b",
                metric="coverage_rate",
                difference=-0.5,
                low=-1,
                high=0,
                p_value=0.125,
                tasks=2,
            ),
        ),
    }
)


@pytest.fixture(scope="module")
def measured(filled_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    place = tmp_path_factory.mktemp("measured") / "warehouse"
    shutil.copytree(filled_template, place)
    with Warehouse(place) as opened:
        nodes = [node.instance_id for node in next(opened.read(Task, "task_id = 'task-1'")).graph.nodes]
        recorded = next(opened.read(Trajectory, "trajectory_id = 'recording-1'", pictures=True))
        attempts = [
            AgentRun(
                agent_run_id=f"{experiment}:{agent}",
                experiment_id=experiment,
                agent=agent,
                task_id="task-1",
                instruction="Do it.",
                coverage_rate=rate,
                success=rate == 1,
                end="success" if rate == 1 else "agent_error",
                message="" if rate == 1 else HOSTILE,
                trajectory_id="attempt-1",
            )
            for experiment in ("live", "done")
            for agent, rate in (("a", 0.25), ("b", 1.0))
        ]
        steps = [
            AgentStep(agent_run_id="done:a", step=1, reply=HOSTILE, states={nodes[0]: "Evaluating"}),
            AgentStep(agent_run_id="done:a", step=2, states={nodes[0]: "Completed"}, completed=(nodes[0],)),
        ]
        attempt = recorded.model_copy(update={"trajectory_id": "attempt-1", "subtask_id": "task-1"})
        opened.write([RUNNING, DONE, attempt, *attempts, *steps])
    with Warehouse(place, read_only=True) as opened:
        yield opened


def test_a_running_experiment_shows_how_far_it_is(measured: Warehouse) -> None:
    pages = client_of(measured)
    assert 'href="/experiments/live"' in pages.get("/experiments").text
    text = pages.get("/experiments/live").text
    assert "2 of 4 attempts" in text and 'http-equiv="refresh"' in text
    assert text.index(">b</a>") < text.index(">a</a>")
    assert pages.get("/experiments/nothing").status_code == 404


def test_the_leaderboard_has_intervals_and_leads_to_pairs(measured: Warehouse) -> None:
    pages = client_of(measured)
    text = pages.get("/experiments/done").text
    assert "50.0%" in text and "25–75" in text and "0.125" in text
    assert "first=a&amp;second=b" in text
    assert "<script>alert" not in text
    pairs = pages.get("/experiments/done?first=a&second=b").text
    assert 'href="/attempts/done%3Aa"' in pairs and 'href="/attempts/done%3Ab"' in pairs


def test_two_experiments_are_compared_over_what_both_attempted_and_say_what_differs(
    measured: Warehouse,
) -> None:
    pages = client_of(measured)
    text = pages.get("/experiments/done?other=live").text
    assert "Not the same in both: prompts of a." in text
    assert 'href="?other=live&amp;first=b&amp;second=a#pairs"' in text and "25.0%" in text
    pairs = pages.get("/experiments/done?other=live&first=b&second=a").text
    assert 'href="/attempts/done%3Ab"' in pairs and 'href="/attempts/live%3Aa"' in pairs
    assert pages.get("/experiments/done?other=nothing").status_code == 404


def test_an_attempt_shows_its_steps_and_the_states_of_its_graph(measured: Warehouse) -> None:
    text = client_of(measured).get("/attempts/done%3Aa").text
    states = json.loads(unescape(re.search(r'data-states="([^"]*)"', text)[1]))  # type: ignore[index]
    node = next(iter(states["1"]))
    assert (states["1"][node], states["2"][node]) == ("Evaluating", "Completed")
    assert f'data-node="{node}"' in unescape(text)
    assert "data-scrubber" in text and "<script>alert" not in text
    assert client_of(measured).get("/attempts/nothing").status_code == 404


def test_lists_do_not_jump_when_rows_come_in_another_order(empty_template: Path, tmp_path: Path) -> None:
    pair = [RUNNING, RUNNING.model_copy(update={"experiment_id": "later", "name": "later"})]
    attempts = [
        AgentRun(
            agent_run_id=f"{agent}{repeat}",
            experiment_id="live",
            agent=agent,
            task_id="task-1",
            instruction="Do it.",
            repeat=repeat,
            coverage_rate=0.5,
            end="agent_error",
            trajectory_id="none",
        )
        for repeat in (0, 1, 2)
        for agent in ("a", "b")
    ]
    shown = []
    for name, written in (("first", [*pair, *attempts]), ("second", [*attempts[::-1], *pair[::-1]])):
        shutil.copytree(empty_template, tmp_path / name)
        with Warehouse(tmp_path / name) as opened:
            for record in written:
                opened.write([record])
            pages = client_of(opened)
            shown.append(
                [
                    re.sub(r'content="[^"]*"|nonce="[^"]*"', "", pages.get(path).text)
                    for path in ("/experiments", "/experiments/live", "/experiments/live?first=a&second=b")
                ]
            )
    assert shown[0] == shown[1]
