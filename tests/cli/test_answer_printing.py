"""Answers as people read them on a terminal."""

from __future__ import annotations

import sys

import pytest

from taskloom.cli.answer_printing import print_table


def test_rows_that_are_too_wide_for_the_terminal_are_printed_below_one_another(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    columns = [f"column_{number}" for number in range(20)]

    print_table(columns, [["x" * 100, *columns[1:]]])

    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["row", "1"]
    assert lines[2:] == [[name, name] for name in columns[1:]]
    assert lines[1][1].endswith("…")
