"""The third set of labelled outcomes: what the mended rules make of work that nobody had judged, at the first look.

The cases (`benchmarks/labelled_work_cases/third`) were written after the second set had been used to mend the rules, by somebody who had not
read the rules. The functions of the first look were written anew from recordings by the rules of that day; see decision 0211. The first look is
kept as that of the second set is (`benchmarks.unseen_work`). What the functions of a dataset say is asked with `--quick`, which keeps nothing:

    python -m benchmarks.labelled_performances --set third
    python -m benchmarks third_work --quick
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.labelled_cases import THIRD, load_cases
from benchmarks.labelled_performances import DATA, Performances
from benchmarks.labelled_work import accepted_functions, described, judge, keep_report
from benchmarks.run import Figure, NotMeasuredError
from benchmarks.unseen_work import figures_of
from taskgraph.measures.acceptance_rates import acceptance_report
from taskgraph.records.evaluation_function import EvaluationFunction

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class LaterSet:
    """A set of outcomes that was made after the second one, and the words for it."""

    name: str
    """Its number in words, which is also the option that performs it."""
    cases: Path
    """Folder of its cases."""
    unseen_at: str
    """How rows of figures call it."""


THIRD_SET = LaterSet("third", THIRD, "third set, unseen at 2026-11-23")
REPORT = RESULTS / "third_work_report.json"


def figures(
    quick: bool = False,
    *,
    data: Path = DATA,
    report_file: Path = REPORT,
    functions: Mapping[str, list[EvaluationFunction]] | None = None,
) -> list[Figure]:
    """Both error rates of the third set; see `first_look`.

    Raises:
        NotMeasuredError: the first look is kept already, or there are no performances or functions.
    """
    return first_look(THIRD_SET, quick, data, report_file, functions)


def first_look(
    labelled: LaterSet,
    quick: bool,
    data: Path,
    report_file: Path,
    functions: Mapping[str, list[EvaluationFunction]] | None,
) -> list[Figure]:
    """Both error rates of what was performed before, with `functions` or the accepted ones of the dataset in `data`.

    Raises:
        NotMeasuredError: the first look is kept already, or there are no performances or functions.
    """
    if not quick and report_file.exists():
        raise NotMeasuredError(
            f"the first look is kept in {report_file.name} and the set is no longer unseen; --quick judges without keeping."
        )
    cases = load_cases(labelled.cases)
    known = accepted_functions(data / "warehouse", cases) if functions is None else dict(functions)
    judgement = judge(cases, Performances(data), known)
    if not judgement.outcomes:
        raise NotMeasuredError(
            f"no outcome of the {labelled.name} set was performed in {data}; run"
            f" python -m benchmarks.labelled_performances --set {labelled.name}."
        )
    judgement.invalid = [reason.partition("\n")[0] for reason in judgement.invalid]
    report = acceptance_report(judgement.outcomes)
    print(described(judgement, report))
    if not quick:
        keep_report(judgement, report, report_file, outcomes=True)
    return figures_of(judgement, report, labelled.unseen_at)
