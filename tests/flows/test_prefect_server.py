"""Prefect's server of a run: several may begin at once, and one that cannot start is named."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from taskloom.flows.errors import CommandError
from taskloom.flows.running.prefect_server import prefect_server, prepare_prefect
from taskloom.resources.errors import ExitCode

ASK = """
import os, sys, urllib.request
from pathlib import Path
from taskloom.flows.running.prefect_server import prepare_prefect
from taskloom.flows.running.prefect_server import prefect_server

prepare_prefect(Path(sys.argv[1]))
with prefect_server():
    print(urllib.request.urlopen(os.environ["PREFECT_API_URL"] + "/health", timeout=900).read().decode())
"""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of which Prefect knows nothing yet."""
    for name in ("PREFECT_API_URL", "PREFECT_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.slow
def test_runs_that_begin_at_once_in_a_new_folder_all_get_their_server(data: Path) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", ASK, str(data)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [process.communicate()[0].strip() for process in processes] == ["true"] * 2


@pytest.mark.slow
def test_a_server_that_cannot_start_is_named(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = data / "prefect"
    home.mkdir()
    (home / "prefect.db").write_bytes(b"this is no database" * 300)
    monkeypatch.setenv("PREFECT_HOME", str(home))
    prepare_prefect(data)
    with (
        pytest.raises(CommandError, match=r"server ended with code 3; .*server-errors\.log"),
        prefect_server(),
    ):
        urllib.request.urlopen(os.environ["PREFECT_API_URL"] + "/health", timeout=900)
    assert "file is not a database" in (home / "server-errors.log").read_text()


@pytest.mark.slow
def test_the_server_outlives_signals_to_all_processes_and_ends_with_the_run(
    prefect_home: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service manager signals every process of a run; the server is the last to go."""
    monkeypatch.setenv("PREFECT_HOME", str(prefect_home))
    prepare_prefect(data)
    others = set(children(os.getpid(), "taskloom.flows.running.prefect_server"))
    with prefect_server():
        address = os.environ["PREFECT_API_URL"] + "/health"
        assert urllib.request.urlopen(address, timeout=900).read() == b"true"
        (server,) = set(children(os.getpid(), "taskloom.flows.running.prefect_server")) - others
        assert os.getsid(server) == server != os.getsid(0)
        for name in (signal.SIGINT, signal.SIGTERM):
            os.kill(server, name)
        assert urllib.request.urlopen(address, timeout=900).read() == b"true"
    assert set(children(os.getpid(), "taskloom.flows.running.prefect_server")) <= others


def children(parent: int, module: str) -> list[int]:
    """Processes started by `parent` that run `module`."""
    listed = subprocess.run(
        ["ps", "-ww", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    )
    rows = [line.split(maxsplit=2) for line in listed.stdout.splitlines()]
    return [int(row[0]) for row in rows if int(row[1]) == parent and f"-m {module}" in row[2]]


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/api", "nonsense", "file:///etc/hostname"])
def test_a_server_of_the_users_that_does_not_answer_is_named(
    data: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", url)
    with pytest.raises(CommandError, match="does not answer") as refused, prefect_server():
        pass
    assert url in str(refused.value)
    assert refused.value.exit_code == ExitCode.MISSING_REQUIREMENT
