"""The later labelled sets: what they hold, and that the first look at each is measured once and kept as it
was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.first_looks import figures_of, look
from benchmarks.labelled_cases import CASES, later_sets, load_cases
from benchmarks.labelled_work import Judgement
from benchmarks.run import RESULTS, NotMeasuredError
from taskloom.resources.reading.catalog import load_applications
from taskloom.taskgraph.measures.acceptance_rates import acceptance_report
from taskloom.taskgraph.records.judged_outcome import JudgedOutcome, outcome_id

SETS = later_sets()


@pytest.mark.parametrize("name", SETS)
def test_a_set_covers_every_application_and_repeats_no_case(name: str) -> None:
    cases = load_cases(CASES / name)
    others = [CASES, *(CASES / other for other in SETS if other != name)]
    elsewhere = {case.case_id for folder in others for case in load_cases(folder)}
    web = {name for name, entry in load_applications().items() if entry.platform == "web_browser"}
    assert {case.application.name for case in cases} == web
    assert len({case.case_id for case in cases}) == len(cases)
    assert not {case.case_id for case in cases} & elsewhere


def test_a_first_look_is_not_measured_again(tmp_path: Path) -> None:
    kept = tmp_path / "sixth_work_report.json"
    kept.write_text("{}")
    with pytest.raises(NotMeasuredError, match="no longer unseen"):
        look("sixth", tmp_path, keep_in=tmp_path)
    with pytest.raises(NotMeasuredError, match="No dataset"):
        look("sixth", tmp_path)
    with pytest.raises(NotMeasuredError, match="no outcome of the sixth set"):
        look("sixth", tmp_path, functions={})
    assert kept.read_text() == "{}"
    assert list(tmp_path.iterdir()) == [kept]


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
    unseen = "third set, unseen at 2026-11-23"
    wrong, refused = figures_of(Judgement(outcomes), acceptance_report(outcomes), unseen)
    assert (wrong.value, wrong.unit, wrong.met) == (1, "of 2 outcomes", False)
    assert (refused.value, refused.unit, refused.met) == (0.5, "share of 2 outcomes", False)
    assert wrong.name.endswith("third set, unseen at 2026-11-23")


@pytest.mark.parametrize("name", SETS)
def test_kept_figures_are_those_of_the_kept_verdicts(name: str) -> None:
    report = json.loads((RESULTS / f"{name}_work_report.json").read_text(encoding="utf-8"))
    wrong, refused = json.loads((RESULTS / f"{name}_work.json").read_text(encoding="utf-8"))["figures"]
    verdicts = [(item["right"], item["accepted"]) for item in report["outcomes"]]
    right = [accepted for is_right, accepted in verdicts if is_right]
    assert "unseen at" in wrong["name"]
    assert wrong["value"] == verdicts.count((False, True))
    assert wrong["unit"] == f"of {len(verdicts) - len(right)} outcomes"
    assert refused["value"] == pytest.approx(right.count(False) / len(right))
    assert {item["case_id"] for item in report["outcomes"]} <= {
        case.case_id for case in load_cases(CASES / name)
    }
