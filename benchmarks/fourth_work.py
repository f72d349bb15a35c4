"""The fourth set of labelled outcomes: what the rules make of it that were mended after the third, at the first look.

The cases (`benchmarks/labelled_work_cases/fourth`) were written from the catalogue by somebody who had not read the rules; see decision 0215.
The first look is kept as that of the other sets is (`benchmarks.third_work`). What the functions of a dataset say is asked with `--quick`, which
keeps nothing:

    python -m benchmarks.labelled_performances --set fourth
    python -m benchmarks fourth_work --quick
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.labelled_cases import FOURTH
from benchmarks.labelled_performances import DATA
from benchmarks.run import Figure
from benchmarks.third_work import RESULTS, LaterSet, first_look
from taskgraph.records.evaluation_function import EvaluationFunction

FOURTH_SET = LaterSet("fourth", FOURTH, "fourth set, unseen at 2026-11-23")
REPORT = RESULTS / "fourth_work_report.json"


def figures(
    quick: bool = False,
    *,
    data: Path = DATA,
    report_file: Path = REPORT,
    functions: Mapping[str, list[EvaluationFunction]] | None = None,
) -> list[Figure]:
    """Both error rates of the fourth set; see `benchmarks.third_work.first_look`.

    Raises:
        NotMeasuredError: the first look is kept already, or there are no performances or functions.
    """
    return first_look(FOURTH_SET, quick, data, report_file, functions)
