"""The labelled set: what it holds, how cases are expanded, and how verdicts are counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from benchmarks import run as run_module
from benchmarks.labelled_cases import BringToFront, Case, FileOperation, load_cases, read_cases
from benchmarks.labelled_outcome import ExpectedState, first_mismatch
from benchmarks.labelled_performances import Performance, Performances, key_of, most_informative_first
from benchmarks.labelled_work import (
    PATIENT,
    accepted_functions,
    describe,
    figures_of,
    judge,
    verdict,
    write_report,
)
from benchmarks.recordings import subtask_of
from benchmarks.run import NotMeasuredError
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.resources.applications import WorkedStep
from taskloom.resources.errors import CatalogEntryInvalidError
from taskloom.resources.reading.catalog import load_applications
from taskloom.synthesis.cross_verification.clean_work import SideEffectAccount
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.taskgraph.measures.acceptance_rates import AcceptanceReport, acceptance_report
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction, JudgedOutcome
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence, FileState
from taskloom.warehouse.imports import labelled_outcomes
from taskloom.warehouse.store import Warehouse
from tests.synthesis.recordings import click, recording

ENTRY = """
application: copyparty
subtasks:
  - subtask: rename_text_file
    parameters: {text_path: Documents/meeting.txt, new_path: Documents/talk.txt}
    cases:
      - {name: a, verdict: wrong, kind: other record, why: w, steps: [{worked: {text_path: Documents/ideas.txt}}], shows: [{file: "{new_path}"}]}
      - {name: b, verdict: wrong, kind: half done, why: w, steps: [{worked: {first: 1, last: 2}}], shows: [{gone: "{new_path}"}]}
      - {name: c, verdict: wrong, kind: old content lost, why: w, steps: [{write: "{new_path}", text: "{"}, {front: fava}], shows: [{window: true}]}
      - {name: d, verdict: right, kind: another route, why: w, steps: [{click: rename}, {type: "^a{new_path_name}"}], shows: [{window: true}]}
"""  # noqa: E501
Write = Callable[..., Path]
"""Writes a file of cases and says where it is."""
NOTHING_KNOWN = SideEffectAccount({})
"""The account without verified subtasks."""
FUNCTION = """
def evaluate_agent_task_completion(text_path, new_path):
    return EvalResult(check_file_exists(new_path), 'looked', 1.0)
"""


@pytest.fixture
def entry(tmp_path: Path) -> Write:
    def write(text: str = ENTRY) -> Path:
        (tmp_path / "copyparty.yaml").write_text(text)
        return tmp_path / "copyparty.yaml"

    return write


def file(path: str, text: str = "") -> FileState:
    return FileState(path=path, size=len(text), sha256="0" * 64, text=text)


@pytest.fixture(scope="module")
def all_cases() -> list[Case]:
    """All cases of the labelled set; reading them takes a second."""
    return load_cases()


def test_the_set_covers_every_application_with_sixty_subtasks(all_cases: list[Case]) -> None:
    cases = all_cases
    web = {name for name, entry in load_applications().items() if entry.platform == "web_browser"}
    assert {case.application.name for case in cases} >= web
    assert len({case.subtask_id for case in cases}) >= 60
    assert len({case.case_id for case in cases}) == len(cases)


def test_steps_are_filled_in_with_the_parameters_of_the_case(entry: Write) -> None:
    other, part, mixed, own = read_cases(entry())
    assert [step.control.text for step in other.operations if isinstance(step, WorkedStep) and step.control][
        2
    ] == "ideas.txt"
    assert len(part.operations) == 2
    written, front = mixed.operations
    assert isinstance(written, FileOperation) and (written.write, written.text) == ("Documents/talk.txt", "{")
    assert isinstance(front, BringToFront) and front.application == "fava"
    assert isinstance(own.operations[1], WorkedStep) and own.operations[1].keys == "^atalk.txt"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("verdict: right, kind: another route", "verdict: right, kind: half done", "does not fit"),
        ("name: b", "name: a", "must differ"),
        ("verdict: right, kind: another route", "verdict: wrong, kind: half done", "one right case"),
        ("[{window: true}]", "[{window: true, clipboard: true}]", "exactly one"),
    ],
)
def test_a_file_that_breaks_the_rules_is_refused(entry: Write, old: str, new: str, message: str) -> None:
    with pytest.raises(CatalogEntryInvalidError, match=message):
        read_cases(entry(ENTRY.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("worked: {text_path", "worked: {txt_path", "no parameter 'txt_path'"),
        ("subtask: rename_text_file", "subtask: rename", "no curated subtask"),
        ("new_path: Documents/talk.txt}", "old_path: Documents/talk.txt}", "the catalogue's are"),
    ],
)
def test_names_that_the_catalogue_does_not_have_are_refused(
    entry: Write, old: str, new: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        read_cases(entry(ENTRY.replace(old, new)))


def test_a_file_operation_is_exactly_one_operation() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        FileOperation.model_validate({"write": "a", "delete": "b"})
    with pytest.raises(ValueError, match="'to' belongs"):
        FileOperation.model_validate({"move": "a"})


@pytest.mark.parametrize(
    ("shown", "missing"),
    [
        ({"file": "Documents/*.txt", "has": ["tea", "milk"]}, ""),
        ({"file": "Documents/*.txt", "has": ["tea"], "times": 1}, "2 times"),
        ({"file": "Documents/*.txt", "lacks": ["milk"]}, "has 'milk'"),
        ({"file": "Documents/b.txt"}, "no file"),
        ({"gone": "Documents/a.txt"}, "still there"),
        ({"gone": "Documents/old"}, "still there"),
        ({"folder": "Documents/new"}, "no folder"),
        ({"clipboard": True, "is_text": "tea "}, ""),
        ({"clipboard": True, "is_text": ""}, "not ''"),
        ({"window": True, "has": ["Wiki"]}, "0 times"),
    ],
)
def test_what_must_be_seen_is_looked_for(shown: dict[str, object], missing: str) -> None:
    evidence = Evidence(
        step=1,
        files=(file("Documents/a.txt", "tea, milk, tea"),),
        directories=("Documents", "Documents/old"),
        clipboard=ClipboardState(text="tea"),
    )
    assert missing in first_mismatch([ExpectedState.model_validate(shown)], evidence)
    assert bool(missing) is bool(first_mismatch([ExpectedState.model_validate(shown)], evidence))


def test_a_part_of_the_cases_holds_right_and_wrong_ones_of_several_kinds(
    all_cases: list[Case],
) -> None:
    cases = all_cases
    first = most_informative_first(cases)
    assert sorted(case.case_id for case in first) == sorted(case.case_id for case in cases)
    subtasks = {case.subtask_id for case in cases}
    part = first[: 4 * len(subtasks)]
    assert {case.subtask_id for case in part} == subtasks
    assert sum(case.label.verdict == "right" for case in part) == len(subtasks)


def kept(folder: Path, cases: Sequence[Case], problems: dict[str, str]) -> Performances:
    """Performances in which the renamed file is there for every case but `b`."""
    performances = Performances(folder)
    for case in cases:
        files = () if case.label.name == "b" else (file("Documents/talk.txt", "words"),)
        performances.keep(
            case,
            Performance(
                case_id=case.case_id,
                key=key_of(case),
                problem=problems.get(case.label.name, ""),
                initial=Evidence(step=0),
                final=Evidence(step=1, files=files),
            ),
        )
    return performances


def function_of(cases: Sequence[Case]) -> EvaluationFunction:
    return EvaluationFunction(
        function_id="f",
        subtask_id=cases[0].subtask_id,
        source=FUNCTION,
        parameter_names=("text_path", "new_path"),
        accepted=True,
    )


def test_verdicts_are_counted_and_cases_that_failed_are_not(entry: Write, tmp_path: Path) -> None:
    cases = read_cases(entry())
    function = function_of(cases)
    performances = kept(tmp_path, cases, {"c": "the control was not there"})
    judgement = judge(cases, performances, {function.subtask_id: [function]}, NOTHING_KNOWN)
    assert {item.message for item in judgement.outcomes} == {"looked"}
    assert [
        (item.case_id.split(": ")[1], item.right is not item.accepted) for item in judgement.outcomes
    ] == [
        ("a", True),
        ("b", False),
        ("d", False),
    ]
    assert judgement.invalid == ["copyparty.rename_text_file: c: the control was not there"]
    report = acceptance_report(judgement.outcomes)
    performed, accepted, refused = figures_of(judgement, report)
    assert (performed.met, accepted.value, accepted.met, refused.value, refused.met) == (
        False,
        1,
        False,
        0,
        True,
    )
    assert "wrong work accepted: copyparty.rename_text_file: a (other record)" in describe(judgement, report)


def test_a_performance_of_a_case_that_was_rewritten_is_not_used(entry: Write, tmp_path: Path) -> None:
    cases = read_cases(entry())
    performances = kept(tmp_path, cases, {})
    assert performances.find(cases[0]) is not None
    changed = read_cases(entry(ENTRY.replace("Documents/ideas.txt", "Documents/agenda.txt")))
    assert performances.find(changed[0]) is None
    assert performances.find(changed[1]) is not None


def test_without_a_dataset_there_is_nothing_to_measure(tmp_path: Path) -> None:
    with pytest.raises(NotMeasuredError, match="No dataset"):
        accepted_functions(tmp_path / "nowhere", [])
    Warehouse(tmp_path / "warehouse").close()
    with pytest.raises(NotMeasuredError, match="no accepted function"):
        accepted_functions(tmp_path / "warehouse", [])


def test_a_benchmark_that_cannot_run_here_is_skipped_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(name: str, arguments: list[str], *, quick: bool) -> bool:
        raise NotMeasuredError("nothing is installed")

    monkeypatch.setattr(run_module, "run", refuse)
    assert run_module._run_guarded("labelled_work", [], quick=True)
    assert capsys.readouterr().out == "labelled_work is skipped: nothing is installed\n"


def test_the_report_is_kept_with_every_mistake(entry: Write, tmp_path: Path) -> None:
    cases = read_cases(entry())
    function = function_of(cases)
    judgement = judge(cases, kept(tmp_path, cases, {}), {function.subtask_id: [function]}, NOTHING_KNOWN)
    rates = acceptance_report(judgement.outcomes)
    write_report(judgement, rates, tmp_path / "report.json")
    report = json.loads((tmp_path / "report.json").read_text())
    assert (
        AcceptanceReport.model_validate({name: report[name] for name in AcceptanceReport.model_fields})
        == rates
    )
    assert [item["case_id"].split(": ")[1] for item in report["mistakes"]] == ["a", "c"]
    assert "outcomes" not in report


def test_every_verdict_is_written_on_a_line_for_the_import(entry: Write, tmp_path: Path) -> None:
    cases = read_cases(entry())
    function = function_of(cases)
    judgement = judge(cases, kept(tmp_path, cases, {}), {function.subtask_id: [function]}, NOTHING_KNOWN)
    write_report(judgement, acceptance_report(judgement.outcomes), tmp_path / "report.json", outcomes=True)
    found = [
        item for item in labelled_outcomes.read(tmp_path / "report.json") if isinstance(item, JudgedOutcome)
    ]
    assert [(item.case_id, item.accepted) for item in found] == [
        (item.case_id, item.accepted) for item in judgement.outcomes
    ]
    assert len((tmp_path / "report.json").read_text().splitlines()) < 5 * len(found) + 20


def test_work_with_damage_beside_it_is_not_accepted(entry: Write, tmp_path: Path) -> None:
    cases = read_cases(entry())
    subtask, function = subtask_of(cases[0].application, cases[0].example), function_of(cases)
    clean = kept(tmp_path, cases, {})
    after = clean.find(cases[3])
    assert after is not None
    ends = [after.final, after.final.model_copy(update={"files": (*after.final.files, file("x", "y"))})]
    performances = tuple(
        recording(
            subtask.subtask_id,
            {"text_path": "a", "new_path": new},
            [click("Save", files=(file(new, "words"),))],
        )
        for new in ("b", "c")
    )
    known = VerifiedSubtask(subtask=subtask, function=function, trajectories=performances)
    account = SideEffectAccount({subtask.subtask_id: known})
    with EvaluationSandbox(PATIENT) as sandbox:
        said = [
            verdict(sandbox, function, account, cases[3], after.model_copy(update={"final": end}))
            for end in ends
        ]
    assert said[0] == (True, "looked")
    assert not said[1][0]
    assert "1 file added" in said[1][1]
