"""Rates of acceptance with their intervals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.taskgraph.measures.acceptance_rates import (
    acceptance_report,
    as_markdown,
    rate,
    wilson_interval,
)
from taskloom.taskgraph.records.evaluation_function import JudgedOutcome


def outcome(*, right: bool, accepted: bool, application: str = "notes", kind: str = "k") -> JudgedOutcome:
    return JudgedOutcome(
        outcome_id=f"{application}.{kind}.{right}.{accepted}",
        case_id=f"{application}.{kind}.{right}.{accepted}",
        subtask_id=f"{application}.make",
        application=application,
        kind=kind,
        right=right,
        accepted=accepted,
        function_id=f"{application}.make:1",
    )


@given(st.integers(0, 500).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_an_interval_holds_its_share_and_lies_between_nothing_and_all(counted: tuple[int, int]) -> None:
    count, of = counted
    low, high = wilson_interval(count, of)
    assert 0 <= low <= high <= 1
    if of:
        assert low <= count / of <= high


@given(st.integers(1, 200))
def test_more_outcomes_make_the_interval_narrower(of: int) -> None:
    def width(times: int) -> float:
        low, high = wilson_interval(times * of // 2, times * of)
        return high - low

    assert width(4) < width(1)


def test_the_interval_is_wilsons() -> None:
    # Newcombe, Statistics in Medicine 17 (1998), table I: 81 of 263 and 15 of 148.
    assert [round(end, 4) for end in wilson_interval(81, 263)] == [0.2553, 0.3662]
    assert [round(end, 4) for end in wilson_interval(15, 148)] == [0.0624, 0.1605]


@pytest.mark.parametrize(("count", "of"), [(2, 1), (-1, 4)])
def test_a_count_beyond_its_whole_is_refused(count: int, of: int) -> None:
    with pytest.raises(ValueError, match="is not a share"):
        wilson_interval(count, of)


def test_both_rates_are_given_over_all_by_application_and_by_kind() -> None:
    report = acceptance_report(
        [
            outcome(right=True, accepted=True, kind="another route"),
            outcome(right=True, accepted=False, kind="another route"),
            outcome(right=False, accepted=False, kind="not saved"),
            outcome(right=False, accepted=True, kind="not saved", application="mail"),
        ]
    )
    assert (report.functions, report.subtasks) == (2, 2)
    assert report.overall.true_positive == rate(1, 2)
    assert report.overall.true_negative == rate(1, 2)
    assert [(item.group, item.true_negative.share) for item in report.by_application] == [
        ("mail", 0.0),
        ("notes", 1.0),
    ]
    assert [(item.group, item.true_positive.share) for item in report.by_kind] == [
        ("another route", 0.5),
        ("not saved", None),
    ]


def test_nothing_judged_gives_rates_of_nothing() -> None:
    report = acceptance_report([])
    assert report.overall.true_positive.share is None
    assert str(report.overall.true_negative) == "none"


def test_the_table_has_a_line_for_every_group() -> None:
    report = acceptance_report([outcome(right=False, accepted=False, kind="not saved")])
    assert as_markdown(report).splitlines()[2:] == [
        f"| {name} | none | 100.0 % (20.7 to 100.0 %, 1 of 1) |" for name in ("all", "notes", "not saved")
    ]
