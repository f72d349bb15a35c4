"""Prefect's own server and commands work with the locked dependencies, and its schedules make runs."""

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
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
_START_SECONDS = 180


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Variables that lead Prefect's commands to a server of their own, started as a user starts it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home = tmp_path_factory.mktemp("prefect-commands")
    variables = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PREFECT")},
        "PREFECT_HOME": str(home),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
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


def test_a_deployment_is_made_listed_and_scheduled(environment: dict[str, str]) -> None:
    said(started(environment, "work-pool", "create", "taskloom", "--type", "process"))
    assert "build_dataset/nightly" in said(started(environment, "deploy", "--all"))
    listings = {name: started(environment, name, "ls") for name in ("deployment", "flow-run", "artifact")}
    output = {name: said(process) for name, process in listings.items()}
    assert "build_dataset/nightly" in output["deployment"]
    assert "Artifacts" in output["artifact"]
    deadline = time.monotonic() + _START_SECONDS
    while not (runs := scheduled(environment["PREFECT_API_URL"])) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert len(runs) >= 2, "the schedule of prefect.yaml makes runs ahead of their time"


def scheduled(address: str) -> list[object]:
    question = {"flow_runs": {"state": {"type": {"any_": ["SCHEDULED"]}}}}
    request = urllib.request.Request(
        f"{address}/flow_runs/filter", json.dumps(question).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return list(json.loads(answer.read()))
