"""The second labelled set: what it holds, and that its first look is measured once and kept as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.labelled_cases import UNSEEN, load_cases
from benchmarks.labelled_work import Judgement
from benchmarks.run import NotMeasuredError
from benchmarks.unseen_work import REPORT, figures, figures_of
from resources.reading.catalog import load_applications
from taskgraph.measures.acceptance_rates import acceptance_report
from taskgraph.records.judged_outcome import JudgedOutcome, outcome_id


def test_the_second_set_covers_every_application_and_repeats_no_case_of_the_first() -> None:
    cases = load_cases(UNSEEN)
    assert {case.application.name for case in cases} == set(load_applications())
    assert len({case.subtask_id for case in cases}) >= 25
    assert len({case.case_id for case in cases}) == len(cases)
    assert not {case.case_id for case in cases} & {case.case_id for case in load_cases()}


def test_a_first_look_is_not_measured_again(tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text("{}")
    with pytest.raises(NotMeasuredError, match="no longer unseen"):
        figures(data=tmp_path, report_file=kept)
    with pytest.raises(NotMeasuredError, match="No dataset"):
        figures(quick=True, data=tmp_path, report_file=kept)
    assert kept.read_text() == "{}"


def test_the_rows_are_counted_and_named_by_the_day_of_the_set() -> None:
    outcomes = [
        JudgedOutcome(
            outcome_id=outcome_id(f"a.b: {number}", "f"),
            case_id=f"a.b: {number}",
            subtask_id="a.b",
            application="a",
            kind="detour" if right else "half done",
            right=right,
            accepted=accepted,
            function_id="f",
            message="",
        )
        for number, (right, accepted) in enumerate(
            [(True, True), (True, False), (False, True), (False, False)]
        )
    ]
    wrong, refused = figures_of(Judgement(outcomes), acceptance_report(outcomes))
    assert (wrong.value, wrong.unit, wrong.met) == (1, "of 2 outcomes", False)
    assert (refused.value, refused.unit, refused.met) == (0.5, "share of 2 outcomes", False)
    assert wrong.name.endswith("unseen at 2026-11-23")


def test_the_kept_figures_are_those_of_the_kept_verdicts() -> None:
    report = json.loads(REPORT.read_text(encoding="utf-8"))
    wrong, refused = json.loads((REPORT.parent / "unseen_work.json").read_text(encoding="utf-8"))["figures"]
    verdicts = [(item["right"], item["accepted"]) for item in report["outcomes"]]
    right = [accepted for is_right, accepted in verdicts if is_right]
    assert wrong["value"] == verdicts.count((False, True))
    assert wrong["unit"] == f"of {len(verdicts) - len(right)} outcomes"
    assert refused["value"] == pytest.approx(right.count(False) / len(right))
