"""A function is run once for each way that the answers of its checks can go, and says the same as if it were
run each time."""

from hypothesis import given, settings
from hypothesis import strategies as st

from taskloom.evaluators_api.checks.declaration import Answer, Check
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox, SandboxSettings
from taskloom.taskgraph.records.evidence import Evidence
from tests.evaluators_api.state.evidence import evidence

SOURCE = """
def evaluate_agent_task_completion(path: str):
    if not check_file_exists(path):
        return EvalResult(False, "no file", 0.0)
    text = get_file_text(path)
    if check_file_contains(path, "milk") and not check_file_contains(path, "salt"):
        return EvalResult(True, "holds " + text, 1.0)
    return EvalResult(False, "wrong content", 0.5)
"""
TEXTS = st.sampled_from(["milk", "salt", "milk and salt", "bread", ""])


class Counting(EvaluationSandbox):
    """Counts how often the interpreter is used."""

    runs = 0

    def _run(self, *arguments: object) -> object:
        self.runs += 1
        return super()._run(*arguments)  # type: ignore[arg-type]


def states(text: str) -> Evidence:
    return evidence({"a.txt": text} if text else {})


@given(texts=st.lists(TEXTS, min_size=2, max_size=6))
@settings(max_examples=10, deadline=None)
def test_a_remembered_run_says_what_a_first_one_says(texts: list[str]) -> None:
    def said(sandbox: EvaluationSandbox, text: str) -> object:
        return sandbox.evaluate(SOURCE, {"path": "a.txt"}, states(text))

    with EvaluationSandbox(SandboxSettings(workers=1)) as sandbox:
        again = [said(sandbox, text) for text in texts]
    for text, found in zip(texts, again, strict=True):
        with EvaluationSandbox(SandboxSettings(workers=1)) as fresh:
            assert said(fresh, text) == found


def test_the_interpreter_runs_once_for_each_way_the_answers_go() -> None:
    with Counting(SandboxSettings(workers=1)) as sandbox:
        for text in ("milk", "milk", "", "", "milk", "salt", "salt"):
            sandbox.evaluate(SOURCE, {"path": "a.txt"}, states(text))
        assert sandbox.runs == 3
        sandbox.evaluate(SOURCE, {"path": "b.txt"}, states("milk"))
        assert sandbox.runs == 4


def test_altered_answers_lead_along_their_own_way() -> None:
    def lying(_index: int, check: Check, _arguments: dict[str, str], answer: Answer) -> Answer:
        return True if check.name == "check_file_exists" else answer

    with EvaluationSandbox(SandboxSettings(workers=1)) as sandbox:
        nothing = states("")
        assert [
            item.result.message
            for item in (
                sandbox.evaluate(SOURCE, {"path": "a.txt"}, nothing),
                sandbox.evaluate(SOURCE, {"path": "a.txt"}, nothing, alter=lying),
                sandbox.evaluate(SOURCE, {"path": "a.txt"}, nothing),
            )
            if item.result
        ] == ["no file", "wrong content", "no file"]


def test_one_piece_of_evidence_is_asked_anew_with_another_start() -> None:
    source = (
        "def evaluate_agent_task_completion():\n    return EvalResult(check_file_changed('a.txt'), '', 0.0)\n"
    )
    end = states("milk")
    with EvaluationSandbox(SandboxSettings(workers=1)) as sandbox:
        found = [
            sandbox.evaluate(source, {}, end, start)
            for start in (states("milk"), states("salt"), states("milk"))
        ]
    assert [item.passed for item in found] == [False, True, False]
