"""The page of quality shows what was measured, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.quality_table import PAGE, quality_table, with_table
from benchmarks.run import DEFAULT, Figure, machine, names_of_benchmarks, table


def test_the_page_holds_the_table_of_the_kept_results() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_table(text, quality_table()) == text, "run `make docs`"


def test_the_table_has_the_figures_with_a_goal_and_the_machine(tmp_path: Path) -> None:
    figures = [
        {"name": "speed", "value": 61.2345, "unit": "times", "goal": "50", "met": True, "baseline": "x"},
        {"name": "aside", "value": 1.0, "unit": "s", "goal": "", "met": None, "baseline": ""},
    ]
    result = {
        "benchmark": "evaluation",
        "measured": "2026-01-02T03:04:05",
        "machine": machine(),
        "figures": figures,
    }
    (tmp_path / "evaluation.json").write_text(json.dumps(result))
    (tmp_path / "text_only.json").write_text(json.dumps({"benchmark": "t", "output": "words"}))
    written = quality_table(tmp_path)
    assert "| speed | 61.2 times | 50 | yes | x |" in written
    assert "aside" not in written
    assert "on 2026-01-02." in written


def test_results_of_benchmarks_that_are_gone_are_not_shown(tmp_path: Path) -> None:
    for name in ("evaluation", "gone"):
        figure = {"name": name, "value": 0, "unit": "of 9", "goal": "0", "met": True, "baseline": ""}
        result = {"benchmark": name, "measured": "2026-01-02T00", "machine": machine(), "figures": [figure]}
        (tmp_path / f"{name}.json").write_text(json.dumps(result))
    written = quality_table(tmp_path)
    assert "| evaluation |" in written
    assert "| gone |" not in written


def test_a_page_without_a_place_for_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="needs the lines"):
        with_table("# taskloom", "| a |")


def test_a_missed_goal_is_shown_as_missed() -> None:
    assert "**no**" in table([Figure("speed", 3, "times", "50 or more", False)])


def test_every_default_benchmark_exists() -> None:
    assert set(DEFAULT) <= set(names_of_benchmarks())
