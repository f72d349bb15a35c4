"""A build that its budget stopped, or that replays a ledger, ends with the dataset of a direct build."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from taskloom.cli.main import main
from taskloom.warehouse.store import Warehouse

pytestmark = pytest.mark.slow

SMALL = [
    "--set=platform=simulated",
    "--set=composition.count=4",
    "--applications=simulated_notes,simulated_mail",
    "--set=intents.wanted=2",
    "--set=replay_share=0.2",
    "--quiet",
]


def run(command: str, data: Path, *options: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main([command, "--data", str(data), *SMALL, *options])
    return int(ended.value.code or 0)


@pytest.fixture(scope="module")
def direct(prefect_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("direct")
    assert run("build", data) == 0
    return data


def tasks_of(data: Path) -> list[tuple[object, ...]]:
    with Warehouse(data / "warehouse", read_only=True) as store:
        return list(store.query("SELECT task_id, status, instruction FROM tasks ORDER BY task_id").rows())


def funnel_of(data: Path) -> list[tuple[object, ...]]:
    with Warehouse(data / "warehouse", read_only=True) as store:
        return list(store.query("SELECT step, reason, items FROM funnel ORDER BY ALL").rows())


def test_a_used_up_budget_ends_a_run_without_a_rejection_and_a_larger_one_finishes_it(
    direct: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    assert run("build", data, "--budget=60ktok") == 3
    assert "run again with a larger budget" in capsys.readouterr().err
    with Warehouse(data / "warehouse", read_only=True) as store:
        assert store.query("SELECT count(*) FROM rejections").scalar() == 0
        assert store.query("SELECT status FROM runs").scalar() == "budget_exhausted"
    assert run("build", data, "--budget=100Mtok") == 0
    assert tasks_of(data) == tasks_of(direct)
    assert funnel_of(data) == funnel_of(direct)


def test_a_replay_without_the_reply_names_the_call_and_a_replay_with_all_makes_the_same_dataset(
    direct: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    assert run("build", data, "--replay") == 2
    assert "Put the ledger.sqlite of the run into the data folder" in capsys.readouterr().err
    shutil.copy(direct / "ledger.sqlite", data)
    assert run("build", data, "--replay") == 0
    assert tasks_of(data) == tasks_of(direct)
