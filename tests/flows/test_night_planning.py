"""`--night --dry-run`: what a night would decide, told before it begins."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from taskloom.environments.platforms.simulated.applications import APPLICATIONS
from taskloom.flows.planning.planning import plan_run
from taskloom.flows.settings import load_settings
from taskloom.warehouse.errors import WarehouseUnavailableError
from tests.conftest import Run
from tests.flows.conftest import whole_settings
from tests.flows.nights.test_nights import night


def test_without_a_dataset_everything_is_new_and_nothing_is_made(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "none"
    code, out, _ = run(
        "build", "--night", "--dry-run", "--data", data, "--set", "platform=simulated", "--tasks", 7
    )
    assert code == 0
    assert f"explores {len(APPLICATIONS)} of {len(APPLICATIONS)} applications, composes 7 tasks" in out
    assert "explores simulated_notes: it is new: there is no dataset yet" in out
    assert not data.exists()


def test_what_is_no_warehouse_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "warehouse").mkdir()
    (tmp_path / "warehouse" / "catalog.sqlite").write_text("no database")
    chosen = load_settings(assignments=["platform=simulated", "nights.enabled=true"], data=tmp_path)
    with pytest.raises(WarehouseUnavailableError):
        plan_run(chosen, "build_dataset")


def test_a_run_that_is_no_night_says_nothing_of_it(tmp_path: Path) -> None:
    plan = plan_run(load_settings(assignments=["platform=simulated"], data=tmp_path), "build_dataset")
    assert plan.night is None and "night" not in plan.describe()


@pytest.mark.slow
def test_the_plan_says_what_the_night_then_decides(built_data: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(built_data, tmp_path / "data"))
    wish = ("composition.count=1", "nights.recheck_share=0.1")
    plan = plan_run(whole_settings(data, "nights.enabled=true", *wish), "build_dataset")
    assert plan.night is not None and plan.subtasks == plan.tasks == 0 and not plan.calls
    summary, report = night(data, *wish)
    assert report.nothing_new and summary.exit_code == 0 and not summary.version
    assert all("nothing that it depends on changed" in item.reason for item in report.choices)
    assert len(report.rechecks) == 2, "a tenth of thirteen subtasks, rounded up"
    assert "outcome: nothing new" in summary.describe()
    assert plan.night.left == {item.application: item.reason for item in report.choices}
    assert plan.night.rechecked == len(report.rechecks)

    other = plan_run(
        whole_settings(
            data, "nights.enabled=true", "composition.count=500", "exploration.subtasks_per_application=3"
        ),
        "build_dataset",
    )
    assert other.night is not None and set(other.night.explored) == set(APPLICATIONS)
    assert all("settings" in reason for reason in other.night.explored.values())
    assert other.tasks == other.night.tasks == 500 - other.night.held
