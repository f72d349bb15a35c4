"""The SQL shell in a terminal of its own: keys, completion, history."""

from __future__ import annotations

import os
import pty
import select
import sys
import time
from pathlib import Path

import pytest

from tests.limits import LONGEST_SECONDS

pytest.importorskip("readline", reason="this Python has no readline")


class Terminal:
    """`taskloom sql` with a person at the keys."""

    def __init__(self, warehouse: Path, data: Path) -> None:
        self.seen = ""
        environment = {
            **os.environ,
            "TASKLOOM_WAREHOUSE": str(warehouse),
            "TASKLOOM_DATA": str(data),
            "TERM": "dumb",
            "INPUTRC": "/dev/null",
        }
        self.process, self.keys = pty.fork()
        if self.process == 0:
            os.execve(sys.executable, [sys.executable, "-m", "taskloom.cli.main", "sql"], environment)

    def type(self, text: str) -> None:
        os.write(self.keys, text.encode())

    def until(self, wanted: str) -> None:
        """Read until `wanted` is shown, and forget what was shown before."""
        deadline = time.monotonic() + LONGEST_SECONDS
        while wanted not in self.seen:
            assert time.monotonic() < deadline, f"{wanted!r} does not appear after {self.seen!r}"
            if select.select([self.keys], [], [], 0.1)[0]:
                self.seen += os.read(self.keys, 4096).decode(errors="replace")
        self.seen = self.seen.split(wanted, 1)[1]

    def leave(self) -> int:
        self.type(".quit\n")
        code = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        os.close(self.keys)
        return code


@pytest.mark.slow
def test_the_shell_completes_remembers_and_brings_back(filled_template: Path, tmp_path: Path) -> None:
    shell = Terminal(filled_template, tmp_path)
    shell.until("taskloom> ")
    shell.type("SELECT 40 + 2 AS n FROM task_ed\t;\n")
    shell.until("task_edges;")
    shell.until("42")
    shell.until("taskloom> ")
    shell.type("DELETE FROM tasks;\n")
    shell.until("can only be asked")
    shell.until("taskloom> ")
    assert shell.leave() == 0

    history = tmp_path / "sql_history"
    assert "SELECT 40 + 2 AS n FROM task_edges;" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0

    again = Terminal(filled_template, tmp_path)
    again.until("taskloom> ")
    again.type("\x1b[A\x1b[A\x1b[A\n")
    again.until("42")
    assert again.leave() == 0


@pytest.mark.slow
def test_rows_that_are_too_wide_for_the_terminal_stand_below_one_another(
    filled_template: Path, tmp_path: Path
) -> None:
    shell = Terminal(filled_template, tmp_path)
    shell.until("taskloom> ")
    shell.type("FROM tasks;\n")
    shell.until("row 1")
    shell.until("task_id ")
    shell.until("task-1")
    shell.until("hierarchy_level ")
    shell.until("easy")
    shell.until("taskloom> ")
    assert shell.leave() == 0
