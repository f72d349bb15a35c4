"""The sixth labelled set: what it holds, and that its first look is measured once and kept as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.labelled_cases import FIFTH, FOURTH, SIXTH, THIRD, UNSEEN, load_cases
from benchmarks.run import NotMeasuredError
from benchmarks.sixth_work import REPORT, SIXTH_SET, figures
from resources.reading.catalog import load_applications


def test_the_sixth_set_covers_every_application_and_repeats_nothing_of_the_fifth() -> None:
    cases = load_cases(SIXTH)
    earlier = [
        *load_cases(),
        *(case for folder in (UNSEEN, THIRD, FOURTH, FIFTH) for case in load_cases(folder)),
    ]
    assert {case.application.name for case in cases} == set(load_applications())
    assert len({case.subtask_id for case in cases}) >= 25
    assert len({case.case_id for case in cases}) == len(cases)
    assert not {case.case_id for case in cases} & {case.case_id for case in earlier}
    assert not {case.subtask_id for case in cases} & {case.subtask_id for case in load_cases(FIFTH)}
    later = {case.subtask_id for folder in (THIRD, FOURTH) for case in load_cases(folder)}
    assert len({case.subtask_id for case in cases} & later) <= 3


def test_a_first_look_is_not_measured_again(tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text("{}")
    with pytest.raises(NotMeasuredError, match="no longer unseen"):
        figures(data=tmp_path, report_file=kept)
    with pytest.raises(NotMeasuredError, match="No dataset"):
        figures(quick=True, data=tmp_path, report_file=kept)
    with pytest.raises(NotMeasuredError, match="no outcome of the sixth set"):
        figures(quick=True, data=tmp_path, report_file=kept, functions={})
    assert kept.read_text() == "{}"


def test_kept_figures_are_those_of_the_kept_verdicts() -> None:
    """Only where the first look was kept: performing and judging are separate steps."""
    figures_file = REPORT.parent / "sixth_work.json"
    assert REPORT.exists() == figures_file.exists()
    if not REPORT.exists():
        return
    report = json.loads(REPORT.read_text(encoding="utf-8"))
    wrong, refused = json.loads(figures_file.read_text(encoding="utf-8"))["figures"]
    verdicts = [(item["right"], item["accepted"]) for item in report["outcomes"]]
    right = [accepted for is_right, accepted in verdicts if is_right]
    assert wrong["name"].endswith(SIXTH_SET.unseen_at)
    assert wrong["value"] == verdicts.count((False, True))
    assert wrong["unit"] == f"of {len(verdicts) - len(right)} outcomes"
    assert refused["value"] == pytest.approx(right.count(False) / len(right))
    assert {item["case_id"] for item in report["outcomes"]} <= {case.case_id for case in load_cases(SIXTH)}
