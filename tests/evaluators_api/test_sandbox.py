"""The sandbox answers with an evaluation or a recorded refusal, whatever the code does."""

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest

from taskloom.evaluators_api.errors import SandboxUnavailableError
from taskloom.evaluators_api.evidence.evidence_view import view
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox, SandboxSettings
from taskloom.evaluators_api.interpreter.worker_isolation import bubblewrap_works
from taskloom.resources.applications import ControlQuery
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence, FileState, InputEvent
from taskloom.taskgraph.records.interaction import Control, Rectangle, Screenshot
from tests.limits import LONGEST_SECONDS

EVIDENCE = Evidence(
    step=3,
    inputs=(
        InputEvent(step=1, kind="click", control=ControlQuery(text="More actions")),
        InputEvent(step=2, kind="text", text="Documents/plan.csv"),
        InputEvent(step=3, kind="click", control=ControlQuery(text="Open")),
    ),
    controls=(
        Control(
            label="1",
            text="Import tasks",
            control_type="Button",
            rectangle=Rectangle(left=0, top=0, right=9, bottom=9),
        ),
    ),
    clipboard=ClipboardState(text="copied words"),
    files=(FileState(path="Documents/plan.csv", size=3, sha256="0" * 64, text="a,b"),),
)
PARAMETERS = {"csv_path": "Documents/plan.csv"}
HEAD = "def evaluate_agent_task_completion(csv_path: str):\n"


def function(*lines: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in lines)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[EvaluationSandbox]:
    with EvaluationSandbox(SandboxSettings(workers=2, seconds=0.5, grace_seconds=0.5)) as running:
        yield running


def test_answers_with_the_result_and_every_call(sandbox: EvaluationSandbox) -> None:
    source = function(
        "if not check_mouse_clicks(text='More actions'):",
        "    return EvalResult(False, 'not clicked', 0/2)",
        "if not check_file_contains(csv_path, 'zzz'):",
        "    return EvalResult(False, f'{csv_path} lacks it', 1/2)",
        "return EvalResult(True, 'done', 2/2)",
    )
    evaluation = sandbox.evaluate(source, PARAMETERS, EVIDENCE)
    assert evaluation.outcome == "result" and evaluation.result is not None
    assert (evaluation.result.success, evaluation.result.message) == (False, "Documents/plan.csv lacks it")
    assert evaluation.result.progress == 0.5
    assert [(call.check, call.answer) for call in evaluation.calls] == [
        ("check_mouse_clicks", "True"),
        ("check_file_contains", "False"),
    ]
    assert evaluation.calls[1].arguments == {"file_path": "Documents/plan.csv", "text": "zzz"}


def test_same_source_parameters_and_evidence_give_the_same_evaluation(sandbox: EvaluationSandbox) -> None:
    source = "import random, time\n" + function(
        "word = random.choice(list({'a', 'b', 'c', 'd'})) + str(time.time()) + str(hash('x'))",
        "return EvalResult(check_file_exists(csv_path), word, random.random())",
    )
    first = sandbox.evaluate(source, PARAMETERS, EVIDENCE)
    with EvaluationSandbox() as other:
        assert first.passed
        assert {
            first.model_dump_json(),
            *(other.evaluate(source, PARAMETERS, EVIDENCE).model_dump_json() for _ in range(5)),
        } == {first.model_dump_json()}


def test_no_state_survives_an_evaluation(sandbox: EvaluationSandbox) -> None:
    counting = "seen = []\n" + function(
        "seen.append(1)", "return EvalResult(check_file_exists(csv_path) and len(seen) == 1, '', 1.0)"
    )
    assert all(sandbox.evaluate(counting, PARAMETERS, EVIDENCE).passed for _ in range(5))


def test_a_refused_question_refuses_the_evaluation_even_when_the_code_catches_it(
    sandbox: EvaluationSandbox,
) -> None:
    source = "import json\n" + function(
        "try:",
        "    check_file_exists(json.loads('1'))",
        "except Exception:",
        "    pass",
        "return EvalResult(check_file_exists(csv_path), '', 1.0)",
    )
    evaluation = sandbox.evaluate(source, PARAMETERS, EVIDENCE)
    assert evaluation.outcome == "refused"
    assert "file_path" in evaluation.message


def test_slow_checks_end_an_evaluation_too() -> None:
    class SlowReader:
        def read(self, screenshot: Screenshot) -> tuple[str, ...]:
            threading.Event().wait(0.06)
            return ()

    painted = EVIDENCE.model_copy(update={"screenshot": Screenshot(sha256="f" * 64)})
    source = function("return any(check_text_exists_via_ocr(f'word {n}') for n in range(300))")
    with EvaluationSandbox(SandboxSettings(check_seconds=0.1), reader=SlowReader()) as slow:
        evaluation = slow.evaluate(source, PARAMETERS, painted)
    assert evaluation.outcome == "timed_out"
    assert "checks took more than 0.1 seconds" in evaluation.message
    assert len(evaluation.calls) < 5


def test_a_picture_nobody_can_read_is_neither_a_yes_nor_a_no(sandbox: EvaluationSandbox) -> None:
    unreadable = EVIDENCE.model_copy(update={"screenshot": Screenshot(sha256="f" * 64)})
    evaluation = sandbox.evaluate(function("return check_text_exists_via_ocr('x')"), PARAMETERS, unreadable)
    assert evaluation.outcome == "unavailable"
    assert "check_text_exists_via_control" in evaluation.message


def test_success_without_a_question_is_no_result(sandbox: EvaluationSandbox) -> None:
    source = function("if csv_path == '':", "    return check_file_exists(csv_path)", "return True")
    assert sandbox.evaluate(source, PARAMETERS, EVIDENCE).outcome == "bad_result"


def test_invented_checks_and_wrong_arguments_are_refused_before_they_run(sandbox: EvaluationSandbox) -> None:
    invented = sandbox.evaluate(function("return check_file_exist(csv_path)"), PARAMETERS, EVIDENCE)
    assert invented.outcome == "refused" and "did you mean `check_file_exists`" in invented.message
    renamed = sandbox.evaluate(function("return check_file_exists(path=csv_path)"), PARAMETERS, EVIDENCE)
    assert renamed.outcome == "refused" and "path" in renamed.message
    arity = sandbox.evaluate(function("return check_file_contains(csv_path)"), PARAMETERS, EVIDENCE)
    assert arity.outcome == "refused" and "text" in arity.message
    unknown = sandbox.evaluate(function("return check_file_exists(csv_pat)"), PARAMETERS, EVIDENCE)
    assert unknown.outcome == "refused" and "csv_pat" in unknown.message


def test_stuck_and_greedy_code_costs_nothing_else(sandbox: EvaluationSandbox) -> None:
    loop = function("while True:", "    check_file_exists", "    x = 1", "return check_file_exists(csv_path)")
    good = function("return check_file_exists(csv_path)")
    started = time.monotonic()
    with ThreadPoolExecutor(4) as threads:
        stuck = [threads.submit(sandbox.evaluate, loop, PARAMETERS, EVIDENCE) for _ in range(4)]
        fine = [threads.submit(sandbox.evaluate, good, PARAMETERS, EVIDENCE) for _ in range(40)]
        assert {future.result().outcome for future in stuck} == {"timed_out"}
        assert all(future.result().passed for future in fine)
    assert time.monotonic() - started < LONGEST_SECONDS


def test_many_threads_share_one_sandbox(sandbox: EvaluationSandbox) -> None:
    source = function("return EvalResult(check_file_exists(csv_path), csv_path, 1.0)")
    failures: list[str] = []

    def work(number: int) -> None:
        for turn in range(20):
            path = f"Documents/{number}-{turn}.csv"
            evaluation = sandbox.evaluate(source, {"csv_path": path}, EVIDENCE)
            if evaluation.result is None or evaluation.result.message != path or evaluation.passed:
                failures.append(path)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.parametrize(
    ("answer", "form"),
    [
        ("EvalResult(True, 'x', 1.0)", "three_fields"),
        ("P(True, 'x')", "two_fields"),
        ("check_file_exists(csv_path)", "bare_bool"),
    ],
)
def test_marks_how_the_function_answered(sandbox: EvaluationSandbox, answer: str, form: str) -> None:
    source = "from collections import namedtuple\nP = namedtuple('P', 'success message')\n" + function(
        "check_file_exists(csv_path)", f"return {answer}"
    )
    evaluation = sandbox.evaluate(source, PARAMETERS, EVIDENCE)
    assert (evaluation.result_form, evaluation.passed) == (form, True)


def test_is_refused_when_it_was_not_started() -> None:
    with pytest.raises(SandboxUnavailableError, match="context manager"):
        EvaluationSandbox().evaluate(function("return check_file_exists(csv_path)"), PARAMETERS, EVIDENCE)


def test_workers_are_confined_where_bubblewrap_works_and_optional_where_not() -> None:
    good = function("return check_file_exists(csv_path)")
    with EvaluationSandbox(SandboxSettings(isolation="never")) as plain:
        assert not plain.confined and plain.evaluate(good, PARAMETERS, EVIDENCE).passed
    with EvaluationSandbox() as automatic:
        assert automatic.confined == bubblewrap_works()
        assert automatic.evaluate(good, PARAMETERS, EVIDENCE).passed


def test_leaves_no_worker_and_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with EvaluationSandbox() as running:
        program = running._program
        assert program is not None and program.path.exists()
        assert running.evaluate(function("return check_file_exists(csv_path)"), PARAMETERS, EVIDENCE).passed
        # Nothing that a killed process would leave: the program lies in memory.
        assert list(tmp_path.iterdir()) == []
    assert not program.path.exists()


def test_where_the_system_has_no_files_in_memory_the_program_is_a_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delattr(os, "memfd_create")
    with EvaluationSandbox() as running:
        assert running.evaluate(function("return check_file_exists(csv_path)"), PARAMETERS, EVIDENCE).passed
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_parameter_that_is_no_text_is_refused(sandbox: EvaluationSandbox) -> None:
    odd = cast("dict[str, str]", {"csv_path": ["a.csv"]})
    said = sandbox.evaluate(function("return check_file_exists(csv_path)"), odd, EVIDENCE)
    assert said.outcome == "refused" and "'csv_path' is of type list; it must be a text" in said.message


def test_long_calls_are_not_remembered(sandbox: EvaluationSandbox) -> None:
    evidence = EVIDENCE.model_copy(update={"step": 7})
    source = function("return any(check_any_file_contains(str(i) + 'x' * 9000) for i in range(300))")
    assert sandbox.evaluate(source, PARAMETERS, evidence).outcome == "result"
    assert not view(evidence).answers


def test_types_that_a_busy_machine_could_not_check_are_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "def evaluate_agent_task_completion():\n    return check_file_exists('busy.txt')\n"
    answers: list[str | None] = [None, "", None, None, ""]
    monkeypatch.setattr(EvaluationSandbox, "_check_types", lambda *_: answers.pop(0))
    with EvaluationSandbox() as sandbox:
        assert not sandbox.admit(source, ()).problems and len(answers) == 3
        other = source.replace("busy", "idle")
        assert "cannot be checked within 10 seconds" in str(sandbox.admit(other, ()).problems)
        assert not sandbox.admit(other, ()).problems and not answers
