"""What models habitually write runs rightly, or is refused with a message that says what to change."""

from collections.abc import Iterator

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from tests.evaluators_api.realistic_functions import CASES, FINISHED, PARAMETERS, Case


@pytest.fixture(scope="module")
def sandbox() -> Iterator[EvaluationSandbox]:
    with EvaluationSandbox() as running:
        yield running


def test_there_are_enough_and_most_run() -> None:
    assert len(CASES) >= 40
    assert sum(isinstance(case.expected, bool) for case in CASES) / len(CASES) > 0.7


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_is_right_or_refused_with_words_to_repair_from(sandbox: EvaluationSandbox, case: Case) -> None:
    evaluation = sandbox.evaluate(case.source, PARAMETERS, FINISHED)
    if isinstance(case.expected, str):
        assert evaluation.outcome != "result"
        assert case.expected in evaluation.message
    else:
        assert (evaluation.outcome, evaluation.message) == ("result", "")
        assert evaluation.passed is case.expected
        if case.progress is not None and evaluation.result is not None:
            assert evaluation.result.progress == case.progress
