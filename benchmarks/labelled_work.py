"""Verdicts on labelled outcomes of real work: an outcome is accepted if the function of its subtask accepts
it and the account of side effects finds it clean.

The cases (`benchmarks/labelled_work_cases`) follow people's sense of right and wrong, independently of how
functions are examined. Missing performances are made in the installed applications and stored in the data
folder; judging needs neither browser nor network. Functions and recordings are those of the warehouse in the
data folder (`TASKLOOM_DATA`), or of another one:

    python -m benchmarks.labelled_work [--warehouse FOLDER] [--perform] [PART …]
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.function_files import read_functions
from benchmarks.labelled_cases import Case, Verdict, load_cases
from benchmarks.labelled_performances import (
    DATA,
    Performance,
    Performances,
    missing_applications,
    most_informative_first,
    perform_missing,
)
from benchmarks.recordings import subtask_of
from benchmarks.run import Figure, NotMeasuredError
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox, SandboxSettings
from taskloom.flows.pool import load_verified
from taskloom.resources.reading.catalog import load_applications, load_resource_categories
from taskloom.synthesis.cross_verification.clean_work import SideEffectAccount
from taskloom.taskgraph.measures.acceptance_rates import (
    AcceptanceReport,
    acceptance_report,
    as_markdown,
    rate,
)
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction, JudgedOutcome, outcome_id
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.warehouse.errors import WarehouseError
from taskloom.warehouse.store import Warehouse

REPORT = Path(__file__).parent / "results" / "labelled_work_report.json"
MOST_REFUSED = 0.02
ENOUGH_SUBTASKS = 60
PATIENT = SandboxSettings(seconds=5.0, grace_seconds=5.0, check_seconds=60.0)
"""Limits that are not reached on a busy machine: a verdict must not depend on its load."""


@dataclass
class Judgement:
    """The verdicts of the functions, and what could not be judged."""

    outcomes: list[JudgedOutcome] = field(default_factory=list)
    """Every verdict."""
    invalid: list[str] = field(default_factory=list)
    """Cases that were not performed, with the reason; never counted."""
    without_function: list[str] = field(default_factory=list)
    """Labelled subtasks for which the dataset has no accepted function."""
    performed: int = 0
    """Number of subtasks with at least three wrong outcomes and a right one performed."""

    @property
    def mistakes(self) -> list[JudgedOutcome]:
        """Verdicts that differ from the label."""
        return [item for item in self.outcomes if item.right is not item.accepted]


def figures(quick: bool = False) -> list[Figure]:
    """Both error rates; `quick` uses stored performances only.

    Raises:
        NotMeasuredError: there are no applications, performances or functions.
    """
    cases = load_cases()
    if not quick:
        installed = [case for case in cases if not missing_applications(case, DATA)]
        if not installed:
            raise NotMeasuredError(f"No labelled application is installed in {DATA}; run taskloom install.")
        asyncio.run(perform_missing(most_informative_first(installed), DATA))
    judgement = judge(
        cases, Performances(DATA), accepted_functions(DATA / "warehouse"), account_of(DATA / "warehouse")
    )
    report = acceptance_report(judgement.outcomes)
    print(describe(judgement, report))
    if not quick:
        write_report(judgement, report)
    return figures_of(judgement, report)


def accepted_functions(
    location: Path, cases: Iterable[Case] | None = None
) -> dict[str, list[EvaluationFunction]]:
    """Accepted functions in a warehouse for the subtasks of `cases` (by default of all cases), by subtask.

    Raises:
        NotMeasuredError: there is no such warehouse, or it has none.
    """
    judged = load_cases() if cases is None else cases
    known = {case.subtask_id: case.example.instruction_template for case in judged}
    functions: dict[str, list[EvaluationFunction]] = {}
    try:
        with Warehouse(location, read_only=True) as warehouse:
            templates = {item.subtask_id: item.instruction_template for item in warehouse.read(Subtask)}
            for function in warehouse.read(EvaluationFunction, "accepted"):
                name = function.subtask_id
                if name in known and templates.get(name) == known[name]:
                    functions.setdefault(name, []).append(function)
    except WarehouseError as error:
        raise NotMeasuredError(f"No dataset to measure in {location}: {error}") from error
    if not functions:
        raise NotMeasuredError(
            f"{location} has no accepted function of a labelled subtask; run taskloom build."
        )
    return functions


def account_of(location: Path) -> SideEffectAccount:
    """The account of side effects from the recordings of the warehouse at `location`."""
    with Warehouse(location, read_only=True) as warehouse:
        return SideEffectAccount(load_verified(warehouse, load_applications()))


def judge(
    cases: Sequence[Case],
    performances: Performances,
    functions: dict[str, list[EvaluationFunction]],
    account: SideEffectAccount,
) -> Judgement:
    """Judge every performed case with the functions and the account."""
    names = {case.subtask_id for case in cases}
    judgement = Judgement(without_function=sorted(names - set(functions)))
    done: Counter[tuple[str, Verdict]] = Counter()
    with EvaluationSandbox(PATIENT) as sandbox:
        for case in cases:
            performance = performances.find(case)
            problem = "not performed yet" if performance is None else performance.problem
            if performance is None or problem:
                judgement.invalid.append(f"{case.case_id}: {problem}")
                continue
            done[case.subtask_id, case.label.verdict] += 1
            for function in functions.get(case.subtask_id, ()):
                accepted, message = verdict(sandbox, function, account, case, performance)
                judgement.outcomes.append(
                    JudgedOutcome(
                        outcome_id=outcome_id(case.case_id, function.function_id),
                        case_id=case.case_id,
                        subtask_id=case.subtask_id,
                        application=case.application.name,
                        kind=case.label.kind,
                        right=case.label.verdict == "right",
                        accepted=accepted,
                        function_id=function.function_id,
                        message=message,
                    )
                )
    judgement.performed = sum(done[name, "wrong"] >= 3 and done[name, "right"] >= 1 for name in names)
    return judgement


def verdict(
    sandbox: EvaluationSandbox,
    function: EvaluationFunction,
    account: SideEffectAccount,
    case: Case,
    performance: Performance,
) -> tuple[bool, str]:
    """Whether a performance succeeded and is clean, with the reason."""
    parameters, start, end = case.labelled.parameters, performance.initial, performance.final
    evaluation = sandbox.evaluate(function.source, parameters, end, start)
    message = evaluation.said
    if not evaluation.passed or case.subtask_id not in account.verified:
        return evaluation.passed, message
    node = subtask_of(case.application, case.example).bind(parameters, load_resource_categories())
    effects = account.of([node], start, end)
    return (
        not effects.total,
        f"{message}; also {effects.describe()} {list(effects.examples)}" if effects.total else message,
    )


def figures_of(judgement: Judgement, report: AcceptanceReport) -> list[Figure]:
    """The figures with their goals."""
    return [
        Figure(
            "labelled subtasks performed",
            judgement.performed,
            "subtasks",
            f"{ENOUGH_SUBTASKS} or more",
            judgement.performed >= ENOUGH_SUBTASKS,
            note=f"{len(judgement.invalid)} cases were not performed and are not counted",
        ),
        *error_rates(report),
    ]


def error_rates(report: AcceptanceReport, about: str = "", note: str = "") -> list[Figure]:
    """Both error rates with their goals; `about` is added to their names, `note` to their notes."""
    right, wrong = report.overall.true_positive, report.overall.true_negative
    accepted = rate(wrong.of - wrong.count, wrong.of)
    refused = rate(right.of - right.count, right.of)
    origin = f"{report.functions} functions of {report.subtasks} subtasks{note}"
    return [
        Figure(
            f"wrong work accepted{about}",
            accepted.count,
            f"of {accepted.of} outcomes",
            "0",
            accepted.count == 0,
            note=f"{accepted}; {origin}",
        ),
        Figure(
            f"right work refused{about}",
            refused.share or 0.0,
            f"as a share of {refused.of} outcomes",
            f"under {MOST_REFUSED}",
            refused.of > 0 and (refused.share or 0.0) < MOST_REFUSED,
            note=f"{refused}; {origin}",
        ),
    ]


def describe(judgement: Judgement, report: AcceptanceReport) -> str:
    """The rates as a table by application and kind, then every mistake."""
    lines = [as_markdown(report)]
    lines += ["", *_mistakes(judgement.mistakes)]
    lines += [f"not counted: {item}" for item in judgement.invalid]
    if judgement.without_function:
        lines.append(f"no accepted function: {', '.join(judgement.without_function)}")
    return "\n".join(lines)


def write_report(
    judgement: Judgement, report: AcceptanceReport, path: Path = REPORT, *, outcomes: bool = False
) -> None:
    """Write rates and mistakes as JSON, an entry per line; with `outcomes` also every verdict, in the form
    that the import of outcomes reads."""
    excluded = {"outcome_id", "provenance"}
    content: dict[str, object] = {
        **report.model_dump(mode="json"),
        "mistakes": [item.model_dump(mode="json", exclude=excluded) for item in judgement.mistakes],
        "not_counted": judgement.invalid,
        "without_function": judgement.without_function,
    }
    if outcomes:
        content["outcomes"] = [item.model_dump(mode="json", exclude=excluded) for item in judgement.outcomes]
    path.parent.mkdir(exist_ok=True)
    path.write_text("{\n" + ",\n".join(_json_lines(content)) + "\n}\n", encoding="utf-8")


def _json_lines(content: Mapping[str, object]) -> Iterator[str]:
    for name, value in content.items():
        if isinstance(value, list) and value:
            entries = ",\n".join(f"    {json.dumps(entry, ensure_ascii=False)}" for entry in value)
            yield f"  {json.dumps(name)}: [\n{entries}\n  ]"
        else:
            yield f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"


def _mistakes(mistakes: Iterable[JudgedOutcome]) -> list[str]:
    return [
        f"- {'right work refused' if item.right else 'wrong work accepted'}: {item.case_id} ({item.kind}):"
        f" {item.message}"
        for item in mistakes
    ]


def main() -> None:
    """Judge with the functions of a warehouse, without storing the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labelled_work", description=__doc__)
    parser.add_argument("parts", nargs="*", help="judge only cases whose ids begin with one of these")
    parser.add_argument("--warehouse", type=Path, default=DATA / "warehouse")
    parser.add_argument(
        "--perform", action="store_true", help="first perform the cases that are not performed yet"
    )
    parser.add_argument(
        "--report", type=Path, help="write every verdict to this file, which taskloom imports"
    )
    parser.add_argument(
        "--functions", type=Path, help="judge with functions that benchmarks.written_again wrote"
    )
    arguments = parser.parse_args()
    cases = [
        case
        for case in load_cases()
        if not arguments.parts or any(case.case_id.startswith(part) for part in arguments.parts)
    ]
    if arguments.perform:
        asyncio.run(perform_missing(most_informative_first(cases), DATA))
    functions = (
        accepted_functions(arguments.warehouse, cases)
        if arguments.functions is None
        else read_functions(arguments.functions)
    )
    judgement = judge(cases, Performances(DATA), functions, account_of(arguments.warehouse))
    report = acceptance_report(judgement.outcomes)
    print(describe(judgement, report))
    if arguments.report is not None:
        write_report(judgement, report, arguments.report, outcomes=True)


if __name__ == "__main__":
    main()
