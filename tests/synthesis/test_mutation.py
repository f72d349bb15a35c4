"""Conditions are found by running a function, however its source is written."""

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.synthesis.examination.examination import (
    MOST_CONDITIONS,
    Condition,
    Mutant,
    conditions,
    route_dependence,
)
from tests.synthesis.recordings import note_written

DONE = note_written()
PLAIN = """
def evaluate_agent_task_completion(text_path, text):
    return check_file_exists(text_path) and check_file_contains(text_path, text)
"""
ALIAS = """
def evaluate_agent_task_completion(text_path, text):
    there, holds = check_file_exists, check_file_contains
    return there(text_path) and holds(text_path, text)
"""
TABLE = """
def evaluate_agent_task_completion(text_path, text):
    rows = [(check_file_exists, text_path, 'no file'), (lambda path: check_file_contains(path, text), text_path, 'no text')]
    missing = [why for look, given, why in rows if not look(given)]
    return EvalResult(not missing, '; '.join(missing), 1.0 if not missing else 0.0)
"""  # noqa: E501
ROUTE = """
def evaluate_agent_task_completion(text_path, text):
    return check_mouse_clicks('Save') and check_file_exists(text_path) and get_clipboard_text() == '' and text != ''
"""  # noqa: E501


def asked(sandbox: EvaluationSandbox, source: str) -> tuple[Condition, ...]:
    return conditions(
        sandbox.evaluate(source, DONE.parameters, DONE.final_evidence, start=DONE.initial_evidence),
        DONE.parameters,
    )


@pytest.mark.parametrize("source", [PLAIN, ALIAS, TABLE], ids=["plain", "behind another name", "in a table"])
def test_conditions_are_the_same_however_they_are_written(
    shared_sandbox: EvaluationSandbox, source: str
) -> None:
    assert [item.describe() for item in asked(shared_sandbox, source)] == [
        "check_file_exists('{text_path}') [call 0]",
        "check_file_contains('{text_path}', '{text}') [call 1]",
    ]


@pytest.mark.parametrize("source", [PLAIN, ALIAS, TABLE], ids=["plain", "behind another name", "in a table"])
def test_a_mutant_that_no_longer_looks_passes_where_only_that_was_wrong(
    shared_sandbox: EvaluationSandbox, source: str
) -> None:
    found = asked(shared_sandbox, source)
    values = {"text_path": "Documents/todo.txt", "text": "Call Ann"}
    assert not shared_sandbox.evaluate(
        source, values, DONE.final_evidence, start=DONE.initial_evidence
    ).passed
    passing = [
        item.check
        for item in found
        if shared_sandbox.evaluate(
            source,
            values,
            DONE.final_evidence,
            start=DONE.initial_evidence,
            alter=Mutant([item], found).alteration(values),
        ).passed
    ]
    assert passing == ["check_file_contains"]


def test_a_mutant_that_says_the_opposite_fails_on_right_work(shared_sandbox: EvaluationSandbox) -> None:
    found = asked(shared_sandbox, ROUTE)
    for item in found:
        for flipped in (False, True):
            said = shared_sandbox.evaluate(
                ROUTE,
                DONE.parameters,
                DONE.final_evidence,
                start=DONE.initial_evidence,
                alter=Mutant([item], found, flipped=flipped).alteration(DONE.parameters),
            )
            assert said.passed != flipped


def test_route_dependence_is_the_share_of_conditions_that_read_inputs(
    shared_sandbox: EvaluationSandbox,
) -> None:
    assert route_dependence(asked(shared_sandbox, ROUTE)) == 1 / 3
    assert route_dependence(asked(shared_sandbox, PLAIN)) == 0.0
    assert route_dependence(()) == 0.0


def test_there_is_a_limit(shared_sandbox: EvaluationSandbox) -> None:
    many = (
        "def evaluate_agent_task_completion(text_path, text):\n    seen = [check_window(str(n)) for n in"
        " range(100)]\n    return text != text_path\n"
    )
    assert len(asked(shared_sandbox, many)) == MOST_CONDITIONS
