"""A night over a dataset that exists: nothing new, a changed application, and what no longer replays."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from taskloom.cli.main import create_app
from taskloom.environments.platforms.simulated.applications import APPLICATIONS, Notes
from taskloom.flows.nights.run_reports import RunReport, run_reports
from taskloom.flows.settings import load_settings
from taskloom.flows.summaries.summary import RunSummary
from taskloom.warehouse.store import Warehouse
from tests.flows.conftest import whole_settings


class OtherNotes(Notes):
    """The notes editor after its makers gave a button another name, and told nobody."""

    def _commands(self) -> dict[str, Callable[[], str]]:
        return {"Store" if name == "Save" else name: work for name, work in super()._commands().items()}


def night(data: Path, *assignments: str) -> tuple[RunSummary, RunReport]:
    from taskloom.flows.build_dataset import build_dataset

    chosen = whole_settings(data, "nights.enabled=true", *assignments)
    summary = asyncio.run(build_dataset(settings=chosen))
    assert isinstance(summary, RunSummary) and summary.report is not None
    return summary, summary.report


@pytest.fixture
def data(built_data: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built_data, tmp_path / "data"))


def rows(data: Path, sql: str) -> list[tuple[object, ...]]:
    with Warehouse(data / "warehouse", read_only=True) as store:
        return [tuple(row) for row in store.query(sql).rows()]


@pytest.mark.slow
def test_a_night_without_anything_new_ends_well_and_publishes_nothing(data: Path) -> None:
    before = rows(data, "SELECT name FROM dataset_versions")
    summary, report = night(data, "composition.count=1", "nights.recheck_share=0.1")
    assert report.nothing_new and summary.exit_code == 0 and not summary.version
    assert report.explored == () and len(report.choices) == len(APPLICATIONS)
    assert all("nothing that it depends on changed" in item.reason for item in report.choices)
    assert {item.outcome for item in report.rechecks} == {"holds"}
    assert len(report.rechecks) == 2, "a tenth of thirteen subtasks, rounded up"
    assert rows(data, "SELECT name FROM dataset_versions") == before
    assert "outcome: nothing new" in summary.describe()

    first = {item.subtask_id for item in report.rechecks}
    _, again = night(data, "composition.count=1", "nights.recheck_share=0.1")
    assert first.isdisjoint(item.subtask_id for item in again.rechecks), "others have their turn"


@pytest.mark.slow
def test_what_no_longer_replays_is_retired_with_its_tasks_and_not_composed_from_again(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = rows(data, "SELECT count(*) FROM tasks WHERE status = 'validated'")[0][0]
    monkeypatch.setitem(APPLICATIONS, "simulated_notes", OtherNotes)
    summary, report = night(
        data, f"composition.count={held}", "nights.recheck_share=1", "gates.tasks_lost=0.05"
    )
    lost = set(report.retired_subtasks)
    assert lost and all(name.startswith("simulated_notes.") for name in lost)
    assert all("no longer does what it did" in reason for reason in report.retired_subtasks.values())
    assert report.explored == ("simulated_notes",)
    assert "of its subtasks no longer replay" in str([item.reason for item in report.choices])
    needed = {
        (str(task), str(subtask))
        for task, subtask in rows(
            data,
            "SELECT task_id, subtask_id FROM task_subtasks JOIN tasks USING (task_id) WHERE status ="
            " 'validated'",
        )
    }
    assert not {subtask for _, subtask in needed} & lost
    retired = rows(data, "SELECT message FROM rejections WHERE reason = 'subtask_retired'")
    assert len(retired) == report.retired_tasks > 0
    assert rows(data, "SELECT items FROM funnel WHERE step = 'tasks retired'") == [(report.retired_tasks,)]
    assert not rows(
        data,
        "SELECT 1 FROM tasks WHERE status = 'retired' AND task_id NOT IN"
        " (SELECT item_id FROM rejections WHERE reason = 'subtask_retired')",
    )
    verified = {
        str(row[0]) for row in rows(data, "SELECT subtask_id FROM evaluation_functions WHERE accepted")
    }
    assert not verified & lost

    # Whether enough other tasks could be composed decides the gate; either way both figures are told.
    gate = next(item for item in report.gates if item.gate == "subtasks_lost")
    assert gate.previous == len(verified | lost) and gate.value == len(verified)
    assert summary.exit_code == (0 if summary.version else 6)
    with Warehouse(data / "warehouse", read_only=True) as store:
        told = run_reports(store)
    assert [item.night for item in told] == [False, True]
    assert told[-1].retired_subtasks == report.retired_subtasks

    _, quiet = night(data, f"composition.count={held}", "nights.recheck_share=0")
    assert quiet.explored == (), "the changed application was explored once, not every night"


@pytest.mark.slow
def test_runs_are_listed_and_told_one_by_one(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKLOOM_WAREHOUSE", str(data / "warehouse"))
    app = create_app()
    (listed,) = json.loads(CliRunner().invoke(app, ["runs", "--json"]).stdout)
    assert listed["outcome"] == "published v1" and not listed["night"] and listed["composed"] >= 20
    assert "published v1" in CliRunner().invoke(app, ["runs"]).stdout
    told = CliRunner().invoke(app, ["runs", listed["run_id"]]).stdout
    assert "explored simulated_notes: this run is no night" in told
    assert "gate tasks_lost holds" in told
    unknown = CliRunner().invoke(app, ["runs", "nobody"])
    assert "there is no run 'nobody'" in str(unknown.exception)


def test_the_setting_that_makes_a_night_has_an_option(tmp_path: Path) -> None:
    dry = CliRunner().invoke(
        create_app(),
        ["build", "--night", "--dry-run", "--json", "--set", "platform=simulated", "--data", str(tmp_path)],
    )
    assert dry.exit_code == 0, dry.output
    assert not load_settings(data=tmp_path).nights.enabled
