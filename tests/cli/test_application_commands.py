"""`taskloom apps` and `taskloom install`: what they list, and what they refuse before anything is
installed."""

import json
from pathlib import Path

import pytest

from taskloom.cli.main import main


def run(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return int(ended.value.code or 0)


def test_lists_every_application_with_its_subtasks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["apps", "--data", str(tmp_path), "--json"]) == 0
    listed = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert {"trac", "drawio", "excalidraw"} <= set(listed)
    assert listed["trac"]["subtasks"] >= 6
    assert not any(row["installed"] for row in listed.values())


def test_prints_a_table_without_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["apps", "--data", str(tmp_path)]) == 0
    heading, *rows = capsys.readouterr().out.splitlines()
    assert heading.split() == ["name", "title", "category", "version", "installed", "subtasks"]
    assert any(row.startswith("trac ") for row in rows)


def test_an_unknown_application_is_refused_with_the_known_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments in (["apps", "check", "trca"], ["install", "--only", "trac,trca"]):
        assert run([*arguments, "--data", str(tmp_path)]) == 2
        error = capsys.readouterr().err
        assert "'trca'" in error
        assert "trac" in error.split("known:")[-1]
    assert list(tmp_path.iterdir()) == []


def test_an_application_that_is_not_installed_is_said_to_be_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["apps", "check", "trac", "--data", str(tmp_path)]) == 4
    assert "taskloom install" in capsys.readouterr().err


def test_the_two_ways_to_install_less_exclude_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["install", "--only", "trac", "--browser-only", "--data", str(tmp_path)]) == 2
    assert "--browser-only" in capsys.readouterr().err
