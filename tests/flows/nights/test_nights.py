"""What nights say afterwards; `test_week` performs them."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from taskloom.cli.main import create_app
from taskloom.environments.platforms.simulated.applications import Notes
from taskloom.flows.nights.run_reports import RunReport
from taskloom.flows.settings import load_settings
from taskloom.flows.summary import RunSummary
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


@pytest.mark.slow
def test_runs_are_listed_and_told_one_by_one(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKLOOM_WAREHOUSE", str(data / "warehouse"))
    app = create_app()
    (listed,) = json.loads(CliRunner().invoke(app, ["runs", "--json"]).stdout)
    assert listed["outcome"] == "published v1" and not listed["night"] and listed["composed"] >= 20
    assert "published v1" in CliRunner().invoke(app, ["runs"]).stdout
    told = CliRunner().invoke(app, ["runs", listed["run_id"]]).stdout
    assert "explored simulated_notes: this run is not a night" in told
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
