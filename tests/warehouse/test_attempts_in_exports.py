"""Agents' attempts as training records: the successful ones, or all, with their scores."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from taskloom.taskgraph.records.agent_run import AgentRun
from taskloom.warehouse.errors import ExportRefusedError
from taskloom.warehouse.exporting.exporting import ExportOptions
from taskloom.warehouse.store import Warehouse
from tests.warehouse.sample_parts import trajectory
from tests.warehouse.samples import export

TOLD = "Solve this."


@pytest.fixture(scope="module")
def attempted(tmp_path_factory: pytest.TempPathFactory, filled_template: Path) -> Iterator[Warehouse]:
    """The samples with two attempts, whose first step could not be carried out, and an invalid one; no test
    changes them."""
    place = tmp_path_factory.mktemp("attempts") / "warehouse"
    with Warehouse(shutil.copytree(filled_template, place)) as store:
        for agent, end in (("good", "success"), ("bad", "gave_up"), ("dead", "invalid")):
            made = trajectory()
            first = made.steps[0].model_copy(update={"problem": "it is covered"})
            made = made.model_copy(
                update={
                    "trajectory_id": f"attempt-{agent}",
                    "subtask_id": "task-1",
                    "steps": (first, *made.steps[1:]),
                    "termination": "finished" if agent == "good" else "gave_up",
                }
            )
            run = AgentRun(
                agent_run_id=f"attempt-{agent}",
                agent=agent,
                task_id="task-1",
                instruction=TOLD,
                end=end,
                success=agent == "good",
                coverage_rate=1.0 if agent == "good" else 0.25,
                trajectory_id=f"attempt-{agent}",
            )
            store.write([made, run])
    with Warehouse(place, read_only=True) as store:
        yield store


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def written(store: Warehouse, name: str, folder: Path, which: Literal["successful", "all"]) -> Path:
    options = ExportOptions(attempts=which, granularity="trajectory", instruction_level="high")
    export(store, name, folder, options=options)
    return folder


def test_successful_attempts_or_all_with_scores(attempted: Warehouse, tmp_path: Path) -> None:
    successful = lines(written(attempted, "agent_net", tmp_path / "one", "successful") / "train.jsonl")
    both = lines(written(attempted, "agent_net", tmp_path / "two", "all") / "train.jsonl")
    assert [record["task_id"] for record in successful] == ["attempt-good"]
    found = {record["scores"]["agent"]: record for record in both}
    assert set(found) == {"good", "bad"}
    assert (found["good"]["task_completed"], found["bad"]["task_completed"]) == (True, False)
    assert found["bad"]["scores"]["coverage_rate"] == 0.25
    assert found["bad"]["scores"]["end"] == "gave_up"
    assert found["good"]["instruction"] == TOLD
    assert found["good"]["traj"][0]["value"]["last_step_correct"] is False
    ends = {name: record["traj"][-1]["value"]["code"] for name, record in found.items()}
    assert "terminate" in ends["good"] and "terminate" not in ends["bad"]


def test_scores_stand_where_each_format_has_room_for_them(attempted: Warehouse, tmp_path: Path) -> None:
    dialogue = json.loads((written(attempted, "sharegpt", tmp_path / "s", "all") / "train.json").read_text())
    assert sorted(record["scores"]["end"] for record in dialogue) == ["gave_up", "success"]
    assert dialogue[0]["conversations"][1]["train"] is False
    folder = written(attempted, "openai_chat", tmp_path / "o", "all")
    assert {line["scores"]["agent"] for line in lines(folder / "index.jsonl")} == {"good", "bad"}
    assert all(set(record) == {"messages"} for record in lines(folder / "train.jsonl"))
    folder = written(attempted, "atif", tmp_path / "a", "successful")
    (document,) = folder.rglob("trajectory.json")
    assert json.loads(document.read_text())["extra"]["scores"]["success"] is True


def test_single_steps_leave_out_what_could_not_be_done(attempted: Warehouse, tmp_path: Path) -> None:
    export(attempted, "openai_chat", tmp_path / "out", options=ExportOptions(attempts="all", agent="bad"))
    ids = [line["id"] for line in lines(tmp_path / "out" / "index.jsonl")]
    assert ids == [f"attempt-bad#{number}" for number in range(2, len(ids) + 2)]
    assert "finish()" not in lines(tmp_path / "out" / "train.jsonl")[-1]["messages"][-1]["content"]


def test_attempts_are_refused_where_there_are_none_and_where_no_recordings_are_written(
    attempted: Warehouse, tmp_path: Path
) -> None:
    with pytest.raises(ExportRefusedError, match="osworld writes no recordings"):
        export(attempted, "osworld", tmp_path / "out", options=ExportOptions(attempts="all"))
    with pytest.raises(ExportRefusedError):
        export(attempted, "sharegpt", tmp_path / "out", options=ExportOptions(attempts="all", agent="none"))
