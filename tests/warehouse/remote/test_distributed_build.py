"""A build by worker processes, with Postgres and object storage for the warehouse and Postgres for Prefect,
makes what one process makes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.flows.fan_out.test_dask_workers import stored_alone, stored_in
from tests.limits import LONGEST_SECONDS
from tests.warehouse.remote.conftest import Places
from tests.warehouse.remote.services import PASSWORD, Postgres

pytest.importorskip("distributed", reason="the extra dask is not installed")
pytestmark = pytest.mark.slow

WANTED = (
    "platform=simulated",
    "composition.count=6",
    "intents.wanted=2",
    "replay_share=1",
    "fan_out.runner=dask",
    "fan_out.workers=2",
    "environments=2",
)


def build(data: Path, warehouse: str, **variables: str) -> None:
    options = [part for setting in WANTED for part in ("--set", setting)]
    done = subprocess.run(
        [sys.executable, "-m", "taskloom.cli.main", "build", "--applications", "simulated_notes", *options],
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")},
            "TASKLOOM_DATA": str(data),
            "TASKLOOM_WAREHOUSE": warehouse,
            "PREFECT_HOME": str(data / "prefect"),
            **variables,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=LONGEST_SECONDS,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert PASSWORD not in done.stdout


def test_workers_postgres_and_object_storage_together_make_the_same_dataset(
    server: Postgres,
    new_place: Places,
    prefect_home: Path,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    alone = stored_alone(tmp_path_factory)

    place = new_place()
    database = server.create_database("prefect").replace("postgresql://", "postgresql+asyncpg://")
    address = database.replace("@", f":{PASSWORD}@")
    build(tmp_path / "together", place, PREFECT_SERVER_DATABASE_CONNECTION_URL=address)

    assert stored_in(place) == alone
    assert server.ask("prefect", "SELECT count(*) FROM flow_run WHERE state_type = 'COMPLETED'") == "1"
    assert int(server.ask("prefect", "SELECT count(*) FROM task_run")) > 5
    assert not (tmp_path / "together" / "warehouse").exists()
