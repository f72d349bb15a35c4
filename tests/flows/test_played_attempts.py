"""An attempt that a person plays in the viewer, from the first turn to its judgement."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fastapi.testclient import TestClient

from taskloom.omnieval.agents import human
from taskloom.omnieval.brief import AgentBrief, AgentTask
from taskloom.taskgraph.records.agent_run import FOLDER, TURN, AgentRun, Turn
from taskloom.taskgraph.records.interaction import Observation, Screenshot
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.pages.play_pages import waiting
from taskloom.warehouse.viewer.server import create_application
from tests.flows.conftest import whole_settings
from tests.limits import LONGEST_SECONDS

if TYPE_CHECKING:
    from taskloom.flows.experimenting.finishing import ExperimentReport


async def test_a_turn_goes_with_the_one_who_waited(tmp_path: Path) -> None:
    brief = AgentBrief(task=AgentTask(task_id="t", instruction="Do it."), attempt_id="a", people=tmp_path)
    agent = human.create(brief)
    seen = Observation(screenshot=Screenshot.of(b"picture"), controls=())
    deciding = asyncio.ensure_future(agent.decide("Do it.", seen, ()))
    while not waiting(tmp_path):
        await asyncio.sleep(0.01)
    deciding.cancel()
    await asyncio.wait([deciding])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_person_plays_two_attempts_one_after_the_other(built_data: Path, tmp_path: Path) -> None:
    from taskloom.flows.run_experiment import run_experiment

    data = Path(shutil.copytree(built_data, tmp_path / "data"))
    experiment = {
        "name": "played",
        "agents": ["human"],
        "tasks": {"size": 2},
        "quiet_seconds": 0,
        "limits": {"decision_seconds": 0.01},
    }
    reports: list[ExperimentReport] = []

    def attempt() -> None:
        reports.append(asyncio.run(run_experiment.fn(experiment, settings=whole_settings(data))))

    attempting = threading.Thread(target=attempt, daemon=True)
    with Warehouse(built_data / "warehouse", read_only=True) as store:
        people = data / FOLDER
        pages = TestClient(create_application(store, people=people), base_url="http://127.0.0.1")
        attempting.start()
        for _ in range(2):
            turn = next_turn(people)
            click = {"operation": "click_input", "point": [640, 400]}
            page = move(pages, turn, status="continue", action=json.dumps(click))
            again = next_turn(people, after=turn)
            assert (again.attempt_id, again.step, again.token in page) == (turn.attempt_id, 2, True)
            move(pages, again, status="give_up", message="I only looked.")
        attempting.join(timeout=LONGEST_SECONDS)
    (report,) = reports
    assert (report.attempts, report.invalid) == (2, 0)
    assert not list(people.glob(f"*/{TURN}"))
    with Warehouse(data / "warehouse", read_only=True) as store:
        runs = list(store.read(AgentRun, "experiment_id = 'played'"))
        assert {(run.end, run.message, run.steps) for run in runs} == {("gave_up", "I only looked.", 1)}
        kept = next(store.read(Trajectory, "trajectory_id = ?", [runs[0].trajectory_id]))
        assert kept.steps[0].action.operation == "click_input"


def next_turn(people: Path, after: Turn | None = None) -> Turn:
    ends = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < ends:
        found = waiting(people)
        assert len(found) <= 1, "one attempt waits at a time"
        if found and (after is None or found[0].token != after.token):
            return found[0]
        time.sleep(0.02)
    raise AssertionError("no attempt waits for a person")


def move(pages: TestClient, turn: Turn, **fields: Any) -> str:
    answer = pages.post(f"/play/{turn.attempt_id}", data={"token": turn.token, **fields})
    assert answer.status_code == 200
    return answer.text
