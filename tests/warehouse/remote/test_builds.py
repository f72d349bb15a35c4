"""A whole build with everything on servers: DuckLake's catalogue and Prefect's database in Postgres, files in object storage."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from pyarrow.fs import S3FileSystem

from taskgraph.records.task import Task
from tests.warehouse.remote.conftest import Places
from tests.warehouse.remote.services import PASSWORD, USER, Postgres
from tests.warehouse.remote.test_remote import objects
from warehouse.records import RunRecord
from warehouse.store import Warehouse

pytestmark = pytest.mark.slow
_START_SECONDS = 900


@contextmanager
def prefect_server(variables: dict[str, str], folder: Path) -> Iterator[str]:
    """Prefect's server as a user starts it; the address of its interface."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "prefect", "server", "start", "--no-ui", "--host", "127.0.0.1"]
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen([*command, "--port", str(port)], env=variables, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}/api"
    deadline = time.monotonic() + _START_SECONDS
    try:
        while True:
            with suppress(OSError), urllib.request.urlopen(f"{address}/health", timeout=5):
                break
            assert server.poll() is None and time.monotonic() < deadline, (folder / "server.log").read_text()
            time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        with suppress(subprocess.TimeoutExpired):
            server.wait(30)
        server.kill()
        server.wait()


def test_workers_without_the_warehouse_build_a_dataset_on_servers(
    server: Postgres, storage: S3FileSystem, new_place: Places, tmp_path: Path
) -> None:
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    place = new_place()
    server.create_database("prefect")
    variables = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PREFECT")},
        "PREFECT_HOME": str(tmp_path / "home"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_API_DATABASE_CONNECTION_URL": f"postgresql+asyncpg://{USER}:{PASSWORD}@127.0.0.1:{server.port}/prefect",
    }
    options = (
        "platform=simulated",
        "intents.wanted=2",
        "replay_share=1",
        "environments=2",
        f"warehouse={place}",
    )
    fan_out = ("fan_out.runner=dask", "fan_out.workers=2")
    command = [
        *(sys.executable, "-m", "cli.main", "build", "--quiet", "--tasks=4"),
        *("--applications=simulated_notes", f"--data={tmp_path / 'data'}"),
        *(f"--set={item}" for item in (*options, *fan_out)),
    ]
    with prefect_server(variables, tmp_path) as address:
        done = subprocess.run(
            command,
            env={**variables, "PREFECT_API_URL": address},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert PASSWORD not in done.stdout + done.stderr
    with Warehouse(place, read_only=True) as store:
        (run,) = store.read(RunRecord)
        tasks = list(store.read(Task, "status = 'validated'"))
    assert run.status == "completed" and tasks
    assert any(name.endswith(".parquet") for name in objects(storage, place))
    assert server.ask("prefect", "SELECT state_type FROM flow_run") == "COMPLETED"
    assert not list((tmp_path / "data").glob("warehouse*"))
