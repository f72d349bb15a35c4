"""The examination accepts functions that tell right from wrong, and says what the others let through."""

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.synthesis.examination.examination import build_cases, examine
from taskloom.synthesis.examination.subject import Case
from taskloom.synthesis.examination.verdict import Thresholds, feedback, unacceptable
from taskloom.taskgraph.records.evaluation_function import FamilyKills, FunctionQuality
from tests.synthesis.recordings import message_sent, note_written, page_opened, text_copied, written_instance

POSITIVE = note_written()
CASES = build_cases(
    POSITIVE,
    instance=written_instance(),
    other_parameter_sets=({"text_path": "Documents/other.txt", "text": "Call Ann"},),
    other_trajectories=(text_copied(), message_sent(), page_opened(), note_written(attempt=1)),
)
GOOD = (
    "check_file_text(text_path, text)",
    "check_file_changed(text_path)",
)


def function(*conditions: str) -> str:
    lines = ["def evaluate_agent_task_completion(text_path: str, text: str):"]
    for number, condition in enumerate(conditions):
        lines += [
            f"    if not {condition}:",
            f"        return EvalResult(False, 'missing {number}', {number}/{len(conditions)})",
        ]
    return "\n".join([*lines, "    return EvalResult(True, 'done', 1.0)", ""])


def examined(sandbox: EvaluationSandbox, *conditions: str) -> FunctionQuality:
    return examine(function(*conditions), POSITIVE, CASES, sandbox)


def test_a_good_function_judges_everything_rightly(shared_sandbox: EvaluationSandbox) -> None:
    quality = examined(shared_sandbox, *GOOD)
    assert quality.passes_positive
    assert all(kills.killed == kills.total for kills in quality.families), feedback(quality)
    assert (quality.route_dependence, quality.mutation_score) == (0.0, 1.0)
    assert quality.variants == quality.variants_accepted == 3
    assert (quality.untested_checks, quality.unguarded_changes, quality.refusing_checks) == ((), (), ())
    assert unacceptable(quality, Thresholds()) == ()
    assert feedback(quality) == ""


@pytest.mark.parametrize(
    ("conditions", "family"),
    [
        (("check_window('Notes')",), "no_op"),
        (("check_text_exists_via_control(text)",), "truncation"),
        (("check_mouse_clicks('New')", "check_keyboard_types(text)", "check_window('Notes')"), "not_saved"),
        (("check_any_file_contains('Buy milk')",), "wrong_parameter"),
        (("check_file_exists(text_path)",), "wrong_value"),
        (("check_mouse_clicks('Save')", "check_text_exists_via_control(text)"), "not_saved"),
        (
            ("(check_file_text(text_path, text) or check_any_file_contains('Hello', 'outbox'))",),
            "other_subtask",
        ),
        (("check_any_file_contains(text)",), "wrong_place"),
        (("check_file_text(text_path, text)",), "untouched_product"),
        (("check_mouse_clicks('Save')", *GOOD), "without_route"),
        (("check_text_exists_via_control('Saved ' + text_path)", *GOOD), "without_messages"),
    ],
)
def test_a_weak_or_strict_function_is_caught_by_its_family(
    shared_sandbox: EvaluationSandbox, conditions: tuple[str, ...], family: str
) -> None:
    reasons = " ".join(unacceptable(examined(shared_sandbox, *conditions), Thresholds()))
    assert f"of the family {family}" in reasons


def test_a_function_that_fails_the_positive_is_refused_with_its_own_words(
    shared_sandbox: EvaluationSandbox,
) -> None:
    quality = examined(shared_sandbox, "check_file_contains(text_path, 'something else')")
    assert "does not pass the recording in which the subtask was done: missing 0" in feedback(quality)


def test_a_function_that_crashes_on_wrong_work_has_not_judged_it(shared_sandbox: EvaluationSandbox) -> None:
    crashing = (
        "def evaluate_agent_task_completion(text_path: str, text: str):\n"
        "    if not check_file_exists(text_path):\n        return 1 / 0 > 1\n"
        "    return check_file_contains(text_path, text)\n"
    )
    quality = examine(crashing, POSITIVE, CASES, shared_sandbox)
    survivors = {kills.family: kills.survivors for kills in quality.families}
    assert "it gave no answer: crashed: ZeroDivisionError" in survivors["no_op"][0]


def test_what_was_so_before_the_first_step_is_excused(shared_sandbox: EvaluationSandbox) -> None:
    removed = (
        "def evaluate_agent_task_completion(text_path: str, text: str):\n    return"
        " check_file_missing(text_path)\n"
    )
    positive = POSITIVE.model_copy(
        update={"initial_evidence": POSITIVE.final_evidence, "steps": (POSITIVE.steps[0],)}
    )
    cases = build_cases(positive, other_parameter_sets=({"text_path": "gone.txt", "text": "x"},))
    kills = {item.family: item for item in examine(removed, positive, cases, shared_sandbox).families}
    assert kills["wrong_parameter"].excused > 0
    assert all("text is " in item or "exchanged" in item for item in kills["wrong_parameter"].survivors)
    assert kills["no_op"].killed == 1


def test_a_condition_about_nothing_that_the_work_is_about_is_told(shared_sandbox: EvaluationSandbox) -> None:
    quality = examined(
        shared_sandbox,
        *GOOD,
        "check_window('Notes')",
        "check_file_exists(text_path)",
        "check_file_contains(text_path, text)",
    )
    assert [item.partition("(")[0] for item in quality.untested_checks] == ["check_window"]
    assert "ask for nothing that the work is about" in " ".join(unacceptable(quality, Thresholds()))


def test_a_right_condition_that_says_the_same_once_more_is_not_refused(
    shared_sandbox: EvaluationSandbox,
) -> None:
    quality = examined(shared_sandbox, *GOOD, "check_file_contains(text_path, text)")
    assert unacceptable(quality, Thresholds()) == ()


def test_idle_conditions_are_found_behind_another_name_and_in_a_table(
    shared_sandbox: EvaluationSandbox,
) -> None:
    source = (
        "def evaluate_agent_task_completion(text_path: str, text: str):\n    holds, window = check_file_text,"
        " check_window\n    table = [(lambda: holds(text_path, text), 'text'), (lambda:"
        " check_file_changed(text_path), 'old'), (lambda: window('Notes'), 'window')]\n    missing = [why for"
        " look, why in table if not look()]\n    return EvalResult(not missing, ', '.join(missing), 0.0 if"
        " missing else 1.0)\n"
    )
    quality = examine(source, POSITIVE, CASES, shared_sandbox)
    assert quality.passes_positive, quality.positive_message
    assert [item.partition("(")[0] for item in quality.untested_checks] == ["check_window"]


def test_alternatives_are_examined_by_running_them(shared_sandbox: EvaluationSandbox) -> None:
    quality = examined(shared_sandbox, "(check_file_text(text_path, text) and check_file_changed(text_path))")
    assert quality.untested_checks == ()
    assert quality.mutation_score == 1.0


def test_changes_that_are_missing_unnoticed_are_listed(shared_sandbox: EvaluationSandbox) -> None:
    quality = examined(shared_sandbox, "check_directory_exists('Documents')")
    assert any("Documents/todo.txt: added" in item for item in quality.unguarded_changes)


def test_conditions_that_right_work_does_not_meet_are_listed(shared_sandbox: EvaluationSandbox) -> None:
    quality = examined(shared_sandbox, *GOOD, "check_text_exists_via_control(text)")
    assert quality.refusing_checks == ("check_text_exists_via_control('{text}') [call 2]",)
    assert "Right work does not meet these conditions" in feedback(quality)


def test_feedback_says_what_was_done_and_what_the_function_said(shared_sandbox: EvaluationSandbox) -> None:
    told = feedback(examined(shared_sandbox, "check_text_exists_via_control(text)"))
    assert "only the first 2 of 4 steps were done, the last of them keyboard on 'Text'" in told
    assert "Missing: Documents/todo.txt: added" in told
    assert "it said success; still true: check_text_exists_via_control('Buy milk')" in told
    assert "Check what the remaining steps change." in told


def test_all_or_nothing() -> None:
    quality = FunctionQuality(
        passes_positive=True,
        families=(
            FamilyKills(family="no_op", total=10, killed=9),
            FamilyKills(family="other_subtask", total=3, killed=3),
        ),
    )
    assert len(unacceptable(quality, Thresholds())) == 1
    assert len(unacceptable(quality, Thresholds(least_other_subtasks=4))) == 2
    assert len(unacceptable(quality, Thresholds(second_route_required=True))) == 2
    assert (
        len(unacceptable(quality.model_copy(update={"routes": 2}), Thresholds(second_route_required=True)))
        == 1
    )


def test_cases_are_judged_with_their_own_parameters_and_start(shared_sandbox: EvaluationSandbox) -> None:
    asked = Case(
        "wrong_parameter",
        "asked for another",
        {"text_path": "b.txt", "text": "x"},
        POSITIVE.final_evidence,
        POSITIVE.initial_evidence,
    )
    quality = examine(function("check_file_exists(text_path)"), POSITIVE, (asked,), shared_sandbox)
    assert quality.families[0].killed == 1
