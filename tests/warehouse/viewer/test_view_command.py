from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from taskloom.warehouse.viewer.server import LOOPBACK, listen
from tests.limits import LONGEST_SECONDS


def view(*arguments: str, warehouse: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "taskloom.cli.main", "view", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TASKLOOM_WAREHOUSE": str(warehouse)},
    )


def test_listens_on_this_machine_alone() -> None:
    with listen(0) as opened:
        assert opened.getsockname()[0] == LOOPBACK == "127.0.0.1"


@pytest.mark.slow
def test_serves_until_it_is_interrupted(filled_template: Path) -> None:
    with view(warehouse=filled_template) as running:
        assert running.stdout is not None
        address = running.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address) as answer:
            assert b"tasks validated" in answer.read()
            assert answer.headers["server"] is None
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=LONGEST_SECONDS)
        assert running.returncode == 0, errors
        assert "Traceback" not in errors


def test_a_taken_port_is_one_clear_line(filled_template: Path) -> None:
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        _, errors = view("--port", port, warehouse=filled_template).communicate(timeout=LONGEST_SECONDS)
    assert errors.strip().startswith(f"error: port {port} cannot be used (Address already in use)")
    assert len(errors.splitlines()) == 1


@pytest.mark.slow
def test_an_unknown_version_is_one_clear_line(filled_template: Path) -> None:
    running = view("--version", "v9", warehouse=filled_template)
    _, errors = running.communicate(timeout=LONGEST_SECONDS)
    assert running.returncode == 2
    assert errors.startswith("error: There is no dataset version 'v9'")
    assert len(errors.splitlines()) == 1


@pytest.mark.slow
def test_no_warehouse_is_one_clear_line_and_makes_none(tmp_path: Path) -> None:
    running = view(warehouse=tmp_path / "none")
    _, errors = running.communicate(timeout=LONGEST_SECONDS)
    assert running.returncode == 2
    assert errors.startswith("error: There is no warehouse at")
    assert len(errors.splitlines()) == 1
    assert not (tmp_path / "none").exists()
