"""The examination accepts functions that tell right from wrong, and says what the others let through."""

from collections.abc import Iterator

import pytest

from evaluators_api.interpreter.sandbox import EvaluationSandbox
from synthesis.examination.examination import (
    Negative,
    NegativeThresholds,
    build_negatives,
    examine,
    feedback,
    unacceptable,
)
from taskgraph.records.evaluation_function import FamilyKills, FunctionQuality
from tests.synthesis.recordings import message_sent, note_written, page_opened, text_copied, written_instance

POSITIVE = note_written()
NEGATIVES = build_negatives(
    POSITIVE,
    instance=written_instance(),
    other_parameter_sets=({"text_path": "Documents/other.txt", "text": "Call Ann"},),
    other_trajectories=(text_copied(), message_sent(), page_opened(), note_written(attempt=1)),
    fresh=("text",),
)
THRESHOLDS = NegativeThresholds()


def function(*conditions: str) -> str:
    lines = ["def evaluate_agent_task_completion(text_path: str, text: str):"]
    for number, condition in enumerate(conditions):
        lines += [
            f"    if not {condition}:",
            f"        return EvalResult(False, 'missing {number}', {number}/{len(conditions)})",
        ]
    return "\n".join([*lines, "    return EvalResult(True, 'done', 1.0)", ""])


@pytest.fixture(scope="module")
def sandbox() -> Iterator[EvaluationSandbox]:
    with EvaluationSandbox() as running:
        yield running


def reasons(sandbox: EvaluationSandbox, *conditions: str) -> str:
    quality = examine(function(*conditions), POSITIVE, NEGATIVES, sandbox)
    return " ".join(unacceptable(quality, THRESHOLDS))


def test_a_good_function_kills_everything(sandbox: EvaluationSandbox) -> None:
    quality = examine(function("check_file_contains(text_path, text)"), POSITIVE, NEGATIVES, sandbox)
    assert quality.passes_positive
    assert all(kills.killed == kills.total for kills in quality.families)
    assert (quality.route_dependence, quality.mutation_score) == (0.0, 1.0)
    assert unacceptable(quality, THRESHOLDS) == ()
    assert feedback(quality) == ""


@pytest.mark.parametrize(
    ("conditions", "family"),
    [
        (("check_window('Notes')",), "no_op"),
        (("check_text_exists_via_control(text)",), "truncation"),
        (("check_mouse_clicks('New')", "check_keyboard_types(text)", "check_window('Notes')"), "near_miss"),
        (("check_any_file_contains('Buy milk')",), "wrong_parameter"),
        (("check_file_exists(text_path)",), "wrong_parameter"),
        (("check_mouse_clicks('Save')", "check_text_exists_via_control(text)"), "not_saved"),
        (
            ("(check_file_contains(text_path, text) or check_any_file_contains('Hello', 'outbox'))",),
            "other_subtask",
        ),
    ],
)
def test_a_weak_function_is_caught_by_its_family(
    sandbox: EvaluationSandbox, conditions: tuple[str, ...], family: str
) -> None:
    assert f"of the family {family}" in reasons(sandbox, *conditions)


def test_a_function_of_the_route_alone_is_refused(sandbox: EvaluationSandbox) -> None:
    found = reasons(
        sandbox, "check_mouse_clicks('Save')", "check_keyboard_types(text)", "check_mouse_clicks('Close')"
    )
    assert "100% of its checks judge the route" in found
    assert "family not_saved" in found


def test_a_function_that_fails_the_positive_is_refused_with_its_own_words(sandbox: EvaluationSandbox) -> None:
    assert "does not pass the recording in which the subtask was done: missing 0" in reasons(
        sandbox, "check_file_contains(text_path, 'something else')"
    )


def test_a_function_that_crashes_on_wrong_work_has_not_judged_it(sandbox: EvaluationSandbox) -> None:
    crashing = (
        "def evaluate_agent_task_completion(text_path: str, text: str):\n"
        "    if not check_file_exists(text_path):\n        return 1 / 0 > 1\n"
        "    return check_file_contains(text_path, text)\n"
    )
    quality = examine(crashing, POSITIVE, NEGATIVES, sandbox, mutate=False)
    survivors = {kills.family: kills.survivors for kills in quality.families}
    assert "it did not answer: crashed: ZeroDivisionError" in survivors["no_op"][0]


def test_a_demand_for_one_route_fails_the_second_performance(sandbox: EvaluationSandbox) -> None:
    other_way = note_written(attempt=2)
    typed_only = other_way.final_evidence.model_copy(update={"inputs": other_way.final_evidence.inputs[1:2]})
    steps = (*other_way.steps[:-1], other_way.steps[-1].model_copy(update={"evidence": typed_only}))
    negatives = build_negatives(POSITIVE, other_trajectories=(other_way.model_copy(update={"steps": steps}),))
    strict = function("check_mouse_clicks('Save')", "check_file_contains(text_path, text)")
    quality = examine(strict, POSITIVE, negatives, sandbox)
    text = feedback(quality, NegativeThresholds(least_other_subtasks=0))
    assert "It wrongly rejects 1 of 1 pieces of evidence of the family second_positive." in text
    assert "Do not demand a certain route" in text


def test_what_was_so_before_the_first_step_is_excused(sandbox: EvaluationSandbox) -> None:
    removed = "def evaluate_agent_task_completion(text_path: str, text: str):\n    return check_file_missing(text_path)\n"
    positive = POSITIVE.model_copy(
        update={"initial_evidence": POSITIVE.final_evidence, "steps": (POSITIVE.steps[0],)}
    )
    negatives = build_negatives(positive, other_parameter_sets=({"text_path": "gone.txt", "text": "x"},))
    kills = {item.family: item for item in examine(removed, positive, negatives, sandbox).families}
    assert (kills["wrong_parameter"].total, kills["wrong_parameter"].excused) == (0, 1)
    assert kills["no_op"].killed == 1


def test_checks_that_make_no_difference_are_named(sandbox: EvaluationSandbox) -> None:
    quality = examine(
        function("check_window('Notes')", "check_file_contains(text_path, text)"),
        POSITIVE,
        NEGATIVES,
        sandbox,
    )
    assert quality.untested_checks == ("check_window('Notes')",)
    assert quality.mutants == 6 and quality.mutants_killed == 5


def test_feedback_names_the_surviving_evidence_and_the_remedy(sandbox: EvaluationSandbox) -> None:
    quality = examine(function("check_text_exists_via_control(text)"), POSITIVE, NEGATIVES, sandbox)
    told = feedback(quality)
    assert "only the first 2 of 4 steps were done, the last of them keyboard on 'Text'" in told
    assert "the file Documents/todo.txt is made" in told
    assert "still true: check_text_exists_via_control('Buy milk')" in told
    assert "Check what the remaining steps change." in told


def test_thresholds_are_settings() -> None:
    quality = FunctionQuality(
        passes_positive=True,
        families=(
            FamilyKills(family="no_op", total=1, killed=0),
            FamilyKills(family="other_subtask", total=1, killed=1),
        ),
        mutants=4,
        mutants_killed=1,
        route_dependence=0.8,
    )
    assert len(unacceptable(quality, THRESHOLDS)) == 4
    lenient = NegativeThresholds(
        survivors_allowed=1, least_other_subtasks=1, least_mutation_score=0.25, most_route_dependence=1.0
    )
    assert unacceptable(quality, lenient) == ()
    assert len(unacceptable(quality, lenient.model_copy(update={"second_positive_required": True}))) == 1


def test_negatives_are_judged_with_their_own_parameters(sandbox: EvaluationSandbox) -> None:
    asked = Negative(
        "wrong_parameter", "asked for another", {"text_path": "b.txt", "text": "x"}, POSITIVE.final_evidence
    )
    quality = examine(function("check_file_exists(text_path)"), POSITIVE, (asked,), sandbox)
    assert quality.families[0].killed == 1
