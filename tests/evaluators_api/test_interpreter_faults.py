"""What generated code may throw at the sandbox, and how long it may take."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.evaluators_api.checks.declaration import LONGEST_TEXT, Scene, checks
from taskloom.evaluators_api.evidence.evidence_view import EvidenceView
from taskloom.evaluators_api.evidence.sandbox_paths import (
    LONGEST_PATH,
    _cached_relative_to_home,
    relative_to_home,
)
from taskloom.evaluators_api.interpreter.dialect import unfence
from taskloom.evaluators_api.interpreter.recorder import CallRecorder
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.evaluators_api.interpreter.static_analysis import analyse
from taskloom.taskgraph.records.evidence import Evidence, FileState
from taskloom.taskgraph.records.interaction import Control, Rectangle
from taskloom.taskgraph.text_folding import fold_text
from tests.evaluators_api.state.evidence import evidence
from tests.limits import work_within

FILES = evidence({"a.txt": "x\n"})


def function(*lines: str) -> str:
    return "\n".join(
        ["def evaluate_agent_task_completion():", "    ok = check_file_exists('a.txt')"]
        + [f"    {line}" for line in lines]
    )


@pytest.fixture(scope="module")
def sandbox() -> Iterator[EvaluationSandbox]:
    with EvaluationSandbox() as running:
        yield running


@pytest.mark.parametrize(
    "returned",
    ["{A()}", "{A(): 1}", "(ok, {A(): 1})", "(ok, [frozenset([A()])])", "{'success': ok, 'message': {A()}}"],
)
def test_an_instance_in_a_set_or_as_a_key_is_a_bad_result_and_the_sandbox_goes_on(
    sandbox: EvaluationSandbox, returned: str
) -> None:
    source = "class A:\n    pass\n\n" + function(f"return {returned}")
    evaluation = sandbox.evaluate(source, {}, FILES)
    assert evaluation.outcome == "bad_result" and "return EvalResult" in evaluation.message
    assert [call.check for call in evaluation.calls] == ["check_file_exists"]
    assert sandbox.evaluate(function("return ok"), {}, FILES).passed


@pytest.mark.parametrize(
    "expression",
    [
        "next((c for c in ['a', 'b'] if c == 'b'), None) == 'b'",
        "next((c for c in ['a'] if c == 'z'), None) is None",
        "next(zip([1], [2])) == (1, 2)",
        "next(enumerate('ab')) == (0, 'a')",
        "next(map(str, [1])) == '1'",
        "next(filter(None, [0, 5])) == 5",
        "next(reversed([1, 2])) == 2",
        "any(c == 'b' for c in 'ab') and not all(c == 'b' for c in 'ab')",
        "sum(1 for c in 'ab') == 2 and ','.join(c for c in 'ab') == 'a,b'",
        "dict((c, 1) for c in 'ab') == {'a': 1, 'b': 1}",
        "max(*(n for n in [1, 3, 2])) == 3",
        "2 in (n for n in [1, 2])",
        "[n for n in (m + 1 for m in [1])] == [2]",
    ],
)
def test_generator_expressions_that_are_used_up_on_the_spot_mean_what_they_mean_in_python(
    sandbox: EvaluationSandbox, expression: str
) -> None:
    assert eval(expression)
    assert sandbox.evaluate(function(f"return ok and {expression}"), {}, FILES).passed


@pytest.mark.parametrize(
    "line",
    [
        "g = (n for n in [1])",
        "g = iter(n for n in [1])",
        "g = len(n for n in [1])",
        "g = [(n for n in [1])]",
        "g = helper(n for n in [1])",
        "g = (n for n in [1])[0]",
        "ok = ok and (n for n in [])",
    ],
)
def test_generator_expressions_that_are_kept_or_measured_are_refused_with_the_remedy(line: str) -> None:
    source = "def helper(values):\n    return values\n\n" + function(line, "return ok")
    assert "build a list with [...]" in analyse(source).message


def test_exceptions_of_the_file_system_may_be_caught(sandbox: EvaluationSandbox) -> None:
    for name in (
        "FileNotFoundError",
        "PermissionError",
        "IOError",
        "(OSError, IsADirectoryError)",
        "UnicodeDecodeError",
    ):
        source = function("try:", "    return ok", f"except {name}:", "    return False")
        assert sandbox.evaluate(source, {}, FILES).passed, name
    raised = function("try:", "    raise FileNotFoundError('a')", "except OSError:", "    return ok")
    assert sandbox.evaluate(raised, {}, FILES).passed


def test_fences_are_found_in_linear_time() -> None:
    with work_within(1):
        for text in ("~" * 31_000, "~~~\n" * 8_000 + "x", "```python\n" * 3_000, " " * 31_000 + "`"):
            unfence(text)


@given(
    st.text(alphabet="ab\n", max_size=40),
    st.sampled_from(["```", "~~~", "````"]),
    st.text(alphabet="xy", max_size=5),
)
def test_the_code_between_fences_is_what_was_put_there(code: str, fence: str, tag: str) -> None:
    body = code + "\n"
    assert unfence(f"Here:\n\n{fence}{tag}\n{body}{fence}\nDone.") == body


def test_a_fence_that_is_never_closed_leaves_the_text_as_it_is() -> None:
    assert unfence("```python\nx = 1\n") == "```python\nx = 1\n"


def test_a_long_title_costs_no_more_than_its_length() -> None:
    scene = Scene(
        EvidenceView(Evidence(step=1, window_title="a" + "\u00a0" * 10_000 + "b - report.csv")),
        None,  # type: ignore[arg-type]
    )
    with work_within(0.5):
        assert checks()["check_window"].ask(scene, ("report.csv",), {})[1] is True
        assert checks()["check_window"].ask(scene, ("report",), {})[1] is False


def test_paths_are_remembered_only_while_they_are_short() -> None:
    assert relative_to_home("a/" * 200 + "b.txt") == "a/" * 200 + "b.txt"
    assert relative_to_home("a" * (LONGEST_PATH + 1)) is None
    before = _cached_relative_to_home.cache_info()
    for number in range(50):
        relative_to_home("a" * 1_000 + str(number))
    assert _cached_relative_to_home.cache_info() == before
    assert (before.maxsize or 0) * 256 < 10_000_000


def test_a_file_that_is_too_long_is_refused_at_once() -> None:
    file = FileState(path="a.txt", size=1, sha256="x", text="a-" * LONGEST_TEXT)
    recorder = CallRecorder(Scene(EvidenceView(Evidence(step=1, files=(file,))), None))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        recorder.functions()["check_file_contains"]("a.txt", "b")
    assert str(LONGEST_TEXT) in recorder.refusal


def test_a_check_of_many_files_ends_when_its_time_is_over() -> None:
    files = tuple(
        FileState(path=f"{number}.txt", size=1, sha256="x", text=f"{number} é " * 8_000)
        for number in range(400)
    )
    recorder = CallRecorder(Scene(EvidenceView(Evidence(step=1, files=files)), None), seconds=0.2)  # type: ignore[arg-type]
    with work_within(3), pytest.raises(TypeError):
        recorder.functions()["check_any_file_contains"]("not there")
    assert recorder.outcome == "timed_out"


def test_hundreds_of_checks_with_long_texts_stay_within_seconds() -> None:
    place = Rectangle(left=0, top=0, right=9, bottom=9)
    shown = "lorem ipsum " * 800
    controls = tuple(
        Control(label=str(number), text=shown + "x" * number, control_type="Text", rectangle=place)
        for number in range(20)
    )
    scene = Scene(EvidenceView(Evidence(step=1, controls=controls)), None)  # type: ignore[arg-type]
    recorder = CallRecorder(scene)
    door = recorder.functions()["check_text_exists_via_control"]
    with work_within(10):
        assert not any(door(f"{shown}{number}") for number in range(399))


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_the_short_way_of_folding_plain_text_is_the_long_way(text: str) -> None:
    marked = fold_text(text + " é")
    assert marked in (f"{fold_text(text)} é".strip(), "é")


def test_a_check_of_many_records_ends_when_its_time_is_over() -> None:
    rows = ",".join("{" + ",".join(f'"f{one}": "v"' for one in range(20)) + "}" for _ in range(900))
    fields = {f"*/f{number}*": "v" for number in range(900)}
    file = FileState(path="a.json", size=1, sha256="x", text=f"[{rows}]")
    recorder = CallRecorder(Scene(EvidenceView(Evidence(step=1, files=(file,))), None), seconds=0.1)  # type: ignore[arg-type]
    with work_within(3), pytest.raises(TypeError):
        recorder.functions()["check_record"]("", fields)
    assert recorder.outcome == "timed_out"
