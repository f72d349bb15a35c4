"""Negatives are made from recordings, and only where the work is truly not done."""

from synthesis.examination.counterfactuals import build_negatives
from synthesis.examination.state_comparison import describe_changes, is_volatile, lasting_state

from synthesis.examination.unfinished_work import unfinished_steps
from taskgraph.records.evidence import FileState
from tests.synthesis.recordings import (
    click,
    control,
    file,
    message_sent,
    note_written,
    page_opened,
    recording,
    screen,
    text_copied,
    typing,
    written_instance,
)

OTHERS = (text_copied(), message_sent(), page_opened())


def families(*arguments: object, **named: object) -> dict[str, int]:
    found: dict[str, int] = {}
    for item in build_negatives(*arguments, **named):  # type: ignore[arg-type]
        found[item.family] = found.get(item.family, 0) + 1
    return found


def test_a_recording_yields_every_family() -> None:
    found = families(
        note_written(),
        instance=written_instance(),
        other_parameter_sets=({"text_path": "Documents/other.txt", "text": "Call Ann"},),
        other_trajectories=(*OTHERS, note_written(attempt=1)),
        fresh=("text",),
    )
    assert found == {
        "no_op": 1,
        "truncation": 2,
        "near_miss": 2,
        "wrong_parameter": 3,
        "not_saved": 2,
        "other_subtask": 3,
        "second_positive": 1,
    }


def test_a_trailing_step_without_lasting_effect_is_no_truncation() -> None:
    assert unfinished_steps(note_written(), written_instance()) == (0, 1, 2)


def test_the_screen_decides_where_nothing_lasting_changes() -> None:
    assert unfinished_steps(page_opened()) == (0, 1)


def test_near_misses_click_the_most_similar_sibling() -> None:
    near = [item for item in build_negatives(note_written()) if item.family == "near_miss"]
    clicked = [
        event.control.text for event in near[-1].evidence.inputs if event.kind == "click" and event.control
    ]
    assert clicked == ["New", "Save As", "Close"]
    assert near[-1].evidence.files == ()
    assert "'Save As' was clicked instead of 'Save'" in near[-1].description


def test_unsaved_work_has_all_the_inputs_and_none_of_the_results() -> None:
    positive = note_written()
    nothing, shown = [item for item in build_negatives(positive) if item.family == "not_saved"]
    assert nothing.evidence.inputs == shown.evidence.inputs == positive.final_evidence.inputs
    assert nothing.evidence.controls == positive.initial_evidence.controls
    assert any(item.value == "Buy milk" for item in shown.evidence.controls)
    assert nothing.evidence.files == shown.evidence.files == ()


def test_other_subtasks_of_the_same_application_come_first_and_failed_recordings_do_not_count() -> None:
    failed = text_copied().model_copy(update={"subtask_id": "notes.broken", "termination": "gave_up"})
    negatives = build_negatives(
        note_written(), other_trajectories=(message_sent(), page_opened(), failed, text_copied())
    )
    told = [item.description for item in negatives if item.family == "other_subtask"]
    assert told == [
        "another subtask was done: Do notes.copy.",
        "another subtask was done: Do mail.send.",
        "another subtask was done: Do wiki.open.",
    ]


def test_another_subtask_on_the_same_resource_is_not_held_against_it() -> None:
    renamed = text_copied(text="Documents/todo.txt")
    negatives = build_negatives(
        note_written(), instance=written_instance(), other_trajectories=(renamed, message_sent())
    )
    told = [item.description for item in negatives if item.family == "other_subtask"]
    assert told == ["another subtask was done: Do mail.send."]


def test_values_of_inputs_are_not_altered_because_a_result_need_not_show_them() -> None:
    positive = note_written()
    plain = [item for item in build_negatives(positive) if item.family == "wrong_parameter"]
    assert plain == []
    made = [
        item
        for item in build_negatives(positive, instance=written_instance())
        if item.family == "wrong_parameter"
    ]
    assert [item.parameters["text_path"] for item in made] == ["Documents/todozq7.txt"]


def test_noise_of_applications_is_no_difference() -> None:
    noisy = note_written()
    visits = [file("state/app.json", f'{{"visits": {n}, "id": "deadbeefdeadbeef0{n}"}}') for n in range(5)]
    log = [file("state/server.log", "line\n" * n) for n in range(5)]
    steps = tuple(
        step.model_copy(
            update={
                "evidence": step.evidence.model_copy(
                    update={"files": (*step.evidence.files, visits[n], log[n])}
                )
            }
        )
        for n, step in enumerate(noisy.steps)
    )
    start = noisy.initial_evidence.model_copy(update={"files": (visits[4], log[4])})
    assert unfinished_steps(noisy.model_copy(update={"steps": steps, "initial_evidence": start})) == (0, 1, 2)


def test_a_number_of_the_parameters_is_no_noise() -> None:
    old = recording("bank.pay", {"amount": "50"}, [typing("Amount", "50")])
    before = old.initial_evidence.model_copy(update={"files": (file("ledger", "paid 20"),)})
    after = old.initial_evidence.model_copy(update={"files": (file("ledger", "paid 50"),)})
    assert lasting_state(before, old.parameters) != lasting_state(after, old.parameters)
    assert lasting_state(before, {}) == lasting_state(after, {})


def test_binary_files_are_compared_by_their_hash() -> None:
    def holding(digest: str) -> frozenset[tuple[str, ...]]:
        image = FileState(path="a.png", size=1, sha256=digest * 64)
        return lasting_state(note_written().initial_evidence.model_copy(update={"files": (image,)}), {})

    assert holding("a") != holding("b")
    assert is_volatile("state/cache/a.png") and not is_volatile("a.png")


def test_changes_are_told_by_file_and_by_screen() -> None:
    positive = note_written()
    assert "the file Documents/todo.txt is made" in describe_changes(
        positive.initial_evidence, positive.final_evidence, positive.parameters
    )
    opened = recording("x.open", {}, [click("New", controls=screen(control("Report", "Heading")))])
    assert describe_changes(opened.initial_evidence, opened.final_evidence, {}) == "the screen shows 'Report'"
