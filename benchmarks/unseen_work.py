"""The second set of labelled outcomes: what functions said of work that nobody had judged, at the first look.

The cases (`benchmarks/labelled_work_cases/unseen`) were written when the functions existed, by somebody who had not seen how functions are
examined. A set is unseen once: the first look is kept in `benchmarks/results` and never measured anew, so this is no part of `make bench`, whose
table in README shows it. What the functions of another dataset say is asked with `--quick`, which keeps nothing:

    python -m benchmarks.labelled_performances --set unseen
    python -m benchmarks unseen_work --quick
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.labelled_cases import UNSEEN, load_cases
from benchmarks.labelled_performances import DATA, Performances
from benchmarks.labelled_work import (
    MOST_REFUSED,
    Judgement,
    accepted_functions,
    described,
    judge,
    keep_report,
)
from benchmarks.run import Figure, NotMeasuredError
from taskgraph.measures.acceptance_rates import AcceptanceReport, acceptance_report, rate

REPORT = Path(__file__).parent / "results" / "unseen_work_report.json"
WRITTEN = "2026-11-23"


def figures(quick: bool = False, *, data: Path = DATA, report_file: Path = REPORT) -> list[Figure]:
    """Both error rates of what was performed before; without `quick` every mistake is kept, too.

    Raises:
        NotMeasuredError: the first look is kept already, or there are no performances or functions.
    """
    if not quick and report_file.exists():
        raise NotMeasuredError(
            f"the first look is kept in {report_file.name} and the set is no longer unseen; --quick judges without keeping."
        )
    cases = load_cases(UNSEEN)
    judgement = judge(cases, Performances(data), accepted_functions(data / "warehouse", cases))
    if not judgement.outcomes:
        raise NotMeasuredError(
            f"no outcome of the second set was performed in {data}; run python -m benchmarks.labelled_performances --set unseen."
        )
    judgement.invalid = [reason.partition("\n")[0] for reason in judgement.invalid]
    report = acceptance_report(judgement.outcomes)
    print(described(judgement, report))
    if not quick:
        keep_report(judgement, report, report_file, outcomes=True)
    return figures_of(judgement, report)


def figures_of(
    judgement: Judgement, report: AcceptanceReport, unseen: str = f"unseen at {WRITTEN}"
) -> list[Figure]:
    """The figures with the goals of the first set; `unseen` says which set it was and when."""
    right, wrong = report.overall.true_positive, report.overall.true_negative
    accepted = rate(wrong.of - wrong.count, wrong.of)
    refused = rate(right.of - right.count, right.of)
    note = (
        f"{report.functions} functions of {report.subtasks} subtasks; {len(judgement.invalid)} cases were not performed"
        " and are not counted"
    )
    return [
        Figure(
            f"wrong work accepted, {unseen}",
            accepted.count,
            f"of {accepted.of} outcomes",
            "0",
            accepted.count == 0,
            note=f"{accepted}; {note}",
        ),
        Figure(
            f"right work refused, {unseen}",
            refused.share or 0.0,
            f"share of {refused.of} outcomes",
            f"under {MOST_REFUSED}",
            refused.of > 0 and (refused.share or 0.0) < MOST_REFUSED,
            note=f"{refused}; {note}",
        ),
    ]
