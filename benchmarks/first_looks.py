"""What functions make of a later set of labelled outcomes: at the first look, which is kept, and at any look
after that.

Each folder of `benchmarks/labelled_work_cases` is a set that somebody else wrote from the catalogue, without
seeing the rules, after the rules had been changed for the set before it (docs/what-was-tried.md). A set is
unseen once: its first look is kept in `benchmarks/results` and never measured again, so this is no part of
`make bench`. docs/quality.md shows the latest.

    python -m benchmarks.labelled_performances --set sixth
    python -m benchmarks.first_looks sixth            # judges with the functions of the dataset, and keeps
    nothing
    python -m benchmarks.first_looks seventh --keep   # keeps the first look
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.function_files import read_functions
from benchmarks.labelled_cases import CASES, later_sets, load_cases
from benchmarks.labelled_performances import DATA, Performances
from benchmarks.labelled_work import (
    Judgement,
    accepted_functions,
    described,
    error_rates,
    judge,
    keep_report,
)
from benchmarks.quality_table import write_page
from benchmarks.run import RESULTS, Figure, NotMeasuredError, machine, table
from taskloom.taskgraph.measures.acceptance_rates import AcceptanceReport, acceptance_report
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction


def look(
    name: str,
    data: Path = DATA,
    *,
    functions: Mapping[str, list[EvaluationFunction]] | None = None,
    keep_in: Path | None = None,
) -> list[Figure]:
    """Both error rates of what was performed of a set, with `functions` or the accepted ones of the dataset
    in `data`.

    With `keep_in` every verdict and both figures are kept in that folder.

    Raises:
        NotMeasuredError: the first look is kept already, or there are no performances or functions.
    """
    report_file = None if keep_in is None else keep_in / f"{name}_work_report.json"
    if report_file is not None and report_file.exists():
        raise NotMeasuredError(
            f"the first look is kept in {report_file.name} and the set is no longer unseen; without --keep it"
            " is only judged."
        )
    cases = load_cases(CASES / name)
    known = accepted_functions(data / "warehouse", cases) if functions is None else dict(functions)
    judgement = judge(cases, Performances(data), known)
    if not judgement.outcomes:
        raise NotMeasuredError(
            f"no outcome of the {name} set was performed in {data}; run python -m"
            f" benchmarks.labelled_performances --set {name}."
        )
    judgement.invalid = [reason.partition("\n")[0] for reason in judgement.invalid]
    report = acceptance_report(judgement.outcomes)
    print(described(judgement, report))
    now = datetime.now(UTC)
    figures = figures_of(judgement, report, f"{name} set, unseen at {now.date()}")
    if keep_in is not None and report_file is not None:
        keep_report(judgement, report, report_file, outcomes=True)
        result = {
            "benchmark": f"{name}_work",
            "measured": now.isoformat(timespec="seconds"),
            "machine": machine(),
            "quick": False,
            "figures": [asdict(figure) for figure in figures],
        }
        (keep_in / f"{name}_work.json").write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n")
    return figures


def figures_of(judgement: Judgement, report: AcceptanceReport, unseen: str) -> list[Figure]:
    """The figures with the goals of the first set; `unseen` says which set it was and when."""
    note = f"; {len(judgement.invalid)} cases were not performed and are not counted"
    return error_rates(report, f", {unseen}", note)


def main() -> None:
    """Look at a set."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_looks", description=__doc__)
    parser.add_argument("name", choices=later_sets(), metavar="SET", help=f"of {', '.join(later_sets())}")
    parser.add_argument("--keep", action="store_true", help="keep it as the first look")
    parser.add_argument(
        "--functions", type=Path, help="judge with functions that benchmarks.written_again wrote"
    )
    given = parser.parse_args()
    functions = None if given.functions is None else read_functions(given.functions)
    try:
        print(table(look(given.name, functions=functions, keep_in=RESULTS if given.keep else None)))
    except NotMeasuredError as reason:
        sys.exit(f"Nothing is measured: {reason}")
    if given.keep:
        write_page()


if __name__ == "__main__":
    main()
