"""Scheduled runs on a Prefect server of the user's: deployed, run by a worker, cancelled, gone on with, and
exported."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from taskloom.warehouse.records import RunRecord
from taskloom.warehouse.store import Warehouse
from tests.flows.test_interruptions import calls_in

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
_START_SECONDS = 900
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "CRASHED"}
SMALL = """
data: {data}
platform: simulated
applications: [simulated_notes]
environments: 2
composition: {{count: 4}}
intents: {{wanted: 2}}
replay_share: 0
replay: {{components: false}}
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Variables that lead Prefect's commands to a server of their own, started as a user starts it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home = tmp_path_factory.mktemp("prefect-commands")
    variables = {
        **{
            name: value for name, value in os.environ.items() if not name.startswith(("PREFECT", "TASKLOOM_"))
        },
        "PREFECT_HOME": str(home),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_LOGGING_EXTRA_LOGGERS": "taskloom",
        "PREFECT_LOGGING_ROOT_LEVEL": "INFO",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "200",
    }
    command = [
        sys.executable,
        "-m",
        "prefect",
        "server",
        "start",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--no-ui",
    ]
    with (home / "server.log").open("wb") as log:
        server = subprocess.Popen(command, env=variables, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + _START_SECONDS
        while not answers(f"{variables['PREFECT_API_URL']}/health"):
            assert server.poll() is None and time.monotonic() < deadline, (home / "server.log").read_text()
            time.sleep(0.2)
        yield variables
    finally:
        server.terminate()
        with suppress(subprocess.TimeoutExpired):
            server.wait(20)
        server.kill()
        server.wait()


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except OSError:
        return False


def started(environment: dict[str, str], *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "prefect", "--no-prompt", *words],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def said(process: subprocess.Popen[str]) -> str:
    output = process.communicate(timeout=_START_SECONDS)[0]
    assert process.returncode == 0, output
    assert "Traceback" not in output
    return output


@pytest.fixture(scope="module")
def deployed(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The deployments of prefect.yaml for a small dataset, made as docs/scheduling.md says; the folder that
    it stands in."""
    folder = tmp_path_factory.mktemp("deployed")
    settings = folder / "taskloom.yaml"
    settings.write_text(SMALL.format(data=folder / "data"))
    said(started(environment, "work-pool", "create", "taskloom", "--type", "process"))
    definition = folder / "prefect.yaml"
    text = (ROOT / "prefect.yaml").read_text()
    text = text.replace(" taskloom.yaml", f" {settings}").replace("exported/", f"{folder}/exported/")
    definition.write_text(text)
    said(started(environment, "deploy", "--all", "--prefect-file", str(definition)))
    return folder


def test_deployments_are_made_listed_and_scheduled(environment: dict[str, str], deployed: Path) -> None:
    listings = {name: started(environment, name, "ls") for name in ("deployment", "flow-run", "artifact")}
    output = {name: said(process) for name, process in listings.items()}
    assert "build_dataset/nightly" in output["deployment"]
    assert "export_test_set/after-nightly" in output["deployment"]
    assert "Artifacts" in output["artifact"]
    form = asked(environment, "deployments/name/build_dataset/nightly")["parameter_openapi_schema"]
    for shown in (form, form["definitions"]["Settings"]):
        assert all(item["description"] for item in shown["properties"].values())
    deadline = time.monotonic() + _START_SECONDS
    while not (runs := runs_of(environment, "SCHEDULED")) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert len(runs) >= 2, "the schedule of prefect.yaml makes runs ahead of their time"


def test_a_schedule_and_a_work_pool_are_paused_and_resumed(
    environment: dict[str, str], deployed: Path
) -> None:
    def planned() -> list[Any]:
        """Runs that the pool would hand to a worker, in years to come too."""
        question = {"scheduled_before": "2100-01-01T00:00:00Z"}
        return list(asked(environment, "work_pools/taskloom/get_scheduled_flow_runs", question))

    def until(there: bool) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while bool(planned()) != there:
            assert time.monotonic() < deadline
            time.sleep(0.5)

    def schedule() -> dict[str, Any]:
        (found,) = asked(environment, "deployments/name/build_dataset/nightly")["schedules"]
        return dict(found)

    until(there=True)
    for word, active in (("pause", False), ("resume", True)):
        said(started(environment, "work-pool", word, "taskloom"))
        until(there=active)
    for word, active in (("pause", False), ("resume", True)):
        said(started(environment, "deployment", "schedule", word, "build_dataset/nightly", schedule()["id"]))
        assert schedule()["active"] == active
        until(there=active)


def test_a_run_is_cancelled_goes_on_in_the_next_and_is_exported(
    environment: dict[str, str], deployed: Path
) -> None:
    data = deployed / "data"
    with (deployed / "worker.log").open("wb") as log:
        command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", "taskloom"]
        worker = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        first = run_now(environment)
        while calls_in(data / "ledger.sqlite") < 5:
            assert worker.poll() is None, (deployed / "worker.log").read_text()
            if (state := state_of(environment, first)) == "COMPLETED":
                pytest.skip("the build was done before it could be cancelled")
            assert state not in ENDED, (deployed / "worker.log").read_text()
            time.sleep(0.1)
        started(environment, "flow-run", "cancel", first).communicate()
        end = ended(environment, first)
        with Warehouse(data / "warehouse", read_only=True) as store:
            cancelled = next(store.read(RunRecord, "flow = 'build_dataset'"))
        if end in ("COMPLETED", "CANCELLED") and cancelled.status == "completed":
            pytest.skip("the build was done before it could be cancelled")
        assert end == "CANCELLED", (deployed / "worker.log").read_text()
        assert (cancelled.status, cancelled.message) == ("interrupted", "interrupted by the user")

        second = run_now(environment)
        assert ended(environment, second) == "COMPLETED", (deployed / "worker.log").read_text()
        with Warehouse(data / "warehouse", read_only=True) as store:
            version = store.versions()[-1].name
            built = next(store.read(RunRecord, "flow = 'build_dataset'"))
        assert (built.run_id, built.status) == (cancelled.run_id, "completed")
        question = {"artifacts": {"flow_run_id": {"any_": [second]}}}
        artifacts = {item["key"]: item["data"] for item in asked(environment, "artifacts/filter", question)}
        assert {"progress", "summary"} <= set(artifacts)
        assert "| made | " in artifacts["progress"]
        deadline = time.monotonic() + 60
        while not any("publishing ended after" in line for line in lines_of(environment, second)):
            assert time.monotonic() < deadline, lines_of(environment, second)
            time.sleep(0.5)
        while not (exports := runs_of(environment, "COMPLETED", flow="export_test_set")):
            assert not runs_of(environment, "FAILED"), (deployed / "worker.log").read_text()
            time.sleep(0.5)
        assert len(exports) == 1
        assert (deployed / "exported" / version / "manifest.json").is_file()
    finally:
        worker.terminate()
        with suppress(subprocess.TimeoutExpired):
            worker.wait(30)
        worker.kill()
        worker.wait()


def run_now(environment: dict[str, str]) -> str:
    """Start a run of the nightly deployment; its id."""
    deployment = asked(environment, "deployments/name/build_dataset/nightly")["id"]
    return str(asked(environment, f"deployments/{deployment}/create_flow_run", {})["id"])


def ended(environment: dict[str, str], run_id: str) -> str:
    """The state in which the run ends, once it has."""
    while (state := state_of(environment, run_id)) not in ENDED:
        time.sleep(0.5)
    return state


def state_of(environment: dict[str, str], run_id: str) -> str:
    return str(asked(environment, f"flow_runs/{run_id}")["state"]["type"])


def runs_of(environment: dict[str, str], state: str, flow: str = "") -> list[Any]:
    flows = {"flows": {"name": {"any_": [flow]}}} if flow else {}
    question = {"flow_runs": {"state": {"type": {"any_": [state]}}}, **flows}
    return list(asked(environment, "flow_runs/filter", question))


def lines_of(environment: dict[str, str], run_id: str) -> list[str]:
    """What a run has written to the server's log, where it arrives some seconds after it was written."""
    lines = asked(environment, "logs/filter", {"logs": {"flow_run_id": {"any_": [run_id]}}})
    return [item["message"] for item in lines]


def asked(environment: dict[str, str], path: str, content: object = None) -> Any:
    """The server's answer. As Prefect's own clients do, the question is put again while the server answers
    503: its database was busy, and nothing of the question was kept."""
    data = None if content is None else json.dumps(content).encode()
    address = f"{environment['PREFECT_API_URL']}/{path}"
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"})
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read())
        except HTTPError as error:
            if error.code != HTTPStatus.SERVICE_UNAVAILABLE or time.monotonic() > deadline:
                raise
            time.sleep(0.5)
