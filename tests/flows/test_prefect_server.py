"""Prefect's server of a run: several may begin at once, and one that cannot start is named."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from flows.errors import CommandError
from flows.log_setup import prepare_prefect
from flows.prefect_server import prefect_server

ASK = """
import os, sys, urllib.request
from pathlib import Path
from flows.log_setup import prepare_prefect
from flows.prefect_server import prefect_server

prepare_prefect(Path(sys.argv[1]))
with prefect_server():
    print(urllib.request.urlopen(os.environ["PREFECT_API_URL"] + "/health", timeout=120).read().decode())
"""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of which Prefect knows nothing yet."""
    for name in ("PREFECT_API_URL", "PREFECT_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_runs_that_begin_at_once_in_a_new_folder_all_get_their_server(data: Path) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", ASK, str(data)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [process.communicate()[0].strip() for process in processes] == ["true"] * 2


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
        urllib.request.urlopen(os.environ["PREFECT_API_URL"] + "/health", timeout=120)
    assert "file is not a database" in (home / "server-errors.log").read_text()
