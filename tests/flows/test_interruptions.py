"""A command that is interrupted or asked to end says so in one line and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from taskloom.flows.errors import CommandError
from taskloom.flows.running.interruptions import interruptible
from taskloom.resources.errors import ExitCode
from taskloom.warehouse.records import RunRecord
from taskloom.warehouse.store import Warehouse


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_tasks_in_order(name: str) -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            os.kill(os.getpid(), getattr(signal, name))
            await asyncio.sleep(60)
        finally:
            ended.append("closed")

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(CommandError, match="; all is kept") as raised, interruptible("all is kept."):
        asyncio.run(work())
    assert raised.value.exit_code == (ExitCode.INTERRUPTED if name == "SIGINT" else ExitCode.TERMINATED)
    assert ended == ["closed"] and signal.getsignal(signal.SIGTERM) == before


def test_a_program_in_the_background_that_ignores_interruptions_can_be_ended() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    ended: list[str] = []

    async def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(0)
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(60)
        finally:
            ended.append("closed")

    try:
        with pytest.raises(CommandError, match="terminated; kept") as raised, interruptible("kept."):
            asyncio.run(work())
    finally:
        signal.signal(signal.SIGINT, before)
    assert raised.value.exit_code == ExitCode.TERMINATED and ended == ["closed"]


@pytest.mark.usefixtures("prefect_home")
def test_what_prefect_makes_of_the_signal_is_understood() -> None:
    from prefect.exceptions import TerminationSignal

    signalled = TerminationSignal(signal=signal.SIGTERM)
    for error in (signalled, BaseExceptionGroup("tasks", [ValueError("x"), signalled])):
        with pytest.raises(CommandError, match="terminated; kept") as raised, interruptible("kept."):
            raise error
        assert raised.value.exit_code == ExitCode.TERMINATED
    with pytest.raises(ValueError, match="other"), interruptible("kept."):
        raise ValueError("other")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "exit_code"), [("SIGINT", ExitCode.INTERRUPTED), ("SIGTERM", ExitCode.TERMINATED)]
)
def test_a_signal_to_the_whole_group_ends_a_build_with_one_line_and_it_goes_on_later(
    name: str, exit_code: int, tmp_path: Path
) -> None:
    """A terminal sends Ctrl-C, and a service manager SIGTERM, to every process of the group."""
    data = tmp_path / "data"
    command = [
        *(
            sys.executable,
            "-m",
            "taskloom.cli.main",
            "build",
            "--quiet",
            "--set=platform=simulated",
            f"--set=data={data}",
        ),
        *("--applications=simulated_notes", "--set=intents.wanted=2", "--set=replay_share=0", "--tasks=2"),
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    while process.poll() is None and calls_in(data / "ledger.sqlite") < 5:
        time.sleep(0.02)
    os.killpg(process.pid, getattr(signal, name))
    printed = process.communicate()[0]
    said = "interrupted" if name == "SIGINT" else "terminated"
    assert printed.splitlines() == [f"error: {said}; finished work is kept; the same command resumes."]
    assert process.returncode == exit_code
    with Warehouse(data / "warehouse", read_only=True) as store:
        (run,) = store.read(RunRecord)
    assert (run.status, run.message) == ("interrupted", "interrupted by the user")
    if name == "SIGTERM":
        assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def calls_in(ledger: Path) -> int:
    """Answers in a ledger so far."""
    with suppress(sqlite3.OperationalError):
        connection = sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)
        try:
            return int(connection.execute("SELECT count(*) FROM calls").fetchone()[0])
        finally:
            connection.close()
    return 0
