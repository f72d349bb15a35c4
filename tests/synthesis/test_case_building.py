"""Cases are made from recordings, and wrong work is made only where the work is truly not done."""

import json

import pytest

from taskloom.evaluators_api.state.operators import altered
from taskloom.synthesis.examination.examination import build_cases
from taskloom.synthesis.examination.other_work import unfinished_work
from taskloom.synthesis.examination.subject import Case, Subject, subject_of
from taskloom.taskgraph.records.evidence import ClipboardState, FileState
from taskloom.taskgraph.records.trajectory import Trajectory
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
    written_instance,
)

OTHERS = (text_copied(), message_sent(), page_opened())
SALES = "region,amount\nNorth,10\nSouth,20\n"


def row_added(region: str = "West", amount: str = "30", *, attempt: int = 0) -> Trajectory:
    start = {"files": (file("Documents/plan.txt", "keep"), file("Documents/sales.csv", SALES))}
    done = (file("Documents/plan.txt", "keep"), file("Documents/sales.csv", f"{SALES}{region},{amount}\n"))
    return recording(
        "tables.add",
        {"region": region, "amount": amount},
        [click("New"), click("Save", files=done)],
        start=start,
        attempt=attempt,
    )


def cases(family: str, *arguments: object, **named: object) -> list[Case]:
    return [item for item in build_cases(*arguments, **named) if item.family == family]  # type: ignore[arg-type]


def cut_after(subject: Subject) -> list[int]:
    return [item.evidence.step for item in unfinished_work(subject) if item.family == "truncation"]


def texts(found: list[Case], path: str) -> list[str]:
    return [item.text or "" for case in found for item in case.evidence.files if item.path == path]


def test_a_recording_yields_every_family() -> None:
    found = {
        item.family
        for item in build_cases(
            note_written(),
            instance=written_instance(),
            other_parameter_sets=({"text_path": "Documents/other.txt", "text": "Call Ann"},),
            other_trajectories=(*OTHERS, note_written(attempt=1)),
        )
    }
    assert found == {
        "no_op",
        "truncation",
        "not_saved",
        "wrong_parameter",
        "other_subtask",
        "undone_change",
        "wrong_value",
        "wrong_place",
        "untouched_product",
        "second_positive",
        "without_route",
        "without_messages",
    }


def test_a_trailing_step_without_lasting_effect_is_no_truncation() -> None:
    assert cut_after(subject_of(note_written(), (), written_instance())) == [1, 2]


def test_the_screen_decides_where_nothing_lasting_changes() -> None:
    subject = subject_of(page_opened())
    assert subject.shown
    assert cut_after(subject) == [1]


def test_unsaved_work_has_all_the_inputs_and_none_of_the_results() -> None:
    positive = note_written()
    nothing, shown = cases("not_saved", positive)
    assert nothing.evidence.inputs == shown.evidence.inputs == positive.final_evidence.inputs
    assert nothing.evidence.controls == positive.initial_evidence.controls
    assert any(item.value == "Buy milk" for item in shown.evidence.controls)
    assert nothing.evidence.files == shown.evidence.files == ()


def test_other_subtasks_of_the_same_application_come_first_and_failed_recordings_do_not_count() -> None:
    failed = text_copied().model_copy(update={"subtask_id": "notes.broken", "termination": "gave_up"})
    found = cases(
        "other_subtask",
        note_written(),
        other_trajectories=(message_sent(), page_opened(), failed, text_copied()),
    )
    assert [item.description for item in found] == [
        "another subtask was done: Do notes.copy.",
        "another subtask was done: Do mail.send.",
        "another subtask was done: Do wiki.open.",
    ]


def test_another_subtask_on_the_same_thing_counts_unless_it_has_the_same_effects() -> None:
    emptied = note_written().model_copy(update={"subtask_id": "notes.other", "trajectory_id": "same"})
    restarted = text_copied(text="Documents/todo.txt")
    found = cases("other_subtask", note_written(), other_trajectories=(emptied, restarted))
    assert [item.description for item in found] == ["another subtask was done: Do notes.copy."]


def test_each_parameter_is_changed_alone_and_two_are_exchanged() -> None:
    found = cases("wrong_parameter", row_added(), other_parameter_sets=({"region": "East", "amount": "5"},))
    asked = [dict(item.parameters) for item in found]
    assert {"region": "East", "amount": "30"} in asked
    assert {"region": "West", "amount": "5"} in asked
    assert {"region": "30", "amount": "West"} in asked
    assert all(item.evidence is found[0].evidence for item in found)


def test_a_value_that_leaves_no_trace_is_not_changed_alone() -> None:
    positive = note_written().model_copy(
        update={"parameters": {**note_written().parameters, "mood": "cheerful"}}
    )
    assert all(item.parameters["mood"] == "cheerful" for item in cases("wrong_parameter", positive))


def test_every_essential_change_is_undone_alone() -> None:
    found = cases("undone_change", row_added(), other_trajectories=(row_added("East", "5", attempt=1),))
    assert texts(found, "Documents/sales.csv")[0] == SALES
    assert found[0].description.startswith("this is missing: Documents/sales.csv")


def test_values_are_emptied_cut_short_and_replaced_by_what_another_performance_has() -> None:
    found = cases("wrong_value", row_added("Westend"), other_trajectories=(row_added("East", "5"),))
    left = texts(found, "Documents/sales.csv")
    assert f"{SALES}East,30\n" in left
    assert f"{SALES}Westend,\n" in left
    assert f"{SALES}Wes,30\n" in left


def test_a_copied_text_can_be_one_word_of_it_or_nothing() -> None:
    found = cases("wrong_value", text_copied("Some words"))
    held = {case.evidence.clipboard.text for case in found}
    assert {"words", "Some ", ""} <= held
    assert "Some words" not in held


def test_a_product_that_was_there_before_is_nobodys_work() -> None:
    (found,) = cases("untouched_product", note_written())
    assert found.start == found.evidence
    assert found.evidence.inputs == ()


def test_right_work_is_accepted_without_its_route_and_its_messages() -> None:
    positive = note_written()
    (bare,) = cases("without_route", positive)
    (later,) = cases("without_messages", positive)
    assert bare.right and later.right
    assert bare.evidence.inputs == later.evidence.inputs == ()
    assert later.evidence.controls == positive.initial_evidence.controls
    assert later.evidence.files == positive.final_evidence.files


def test_a_change_that_only_some_performances_make_need_not_happen() -> None:
    def exported(*, log: bool, attempt: int) -> Trajectory:
        files = [
            file("Downloads/a.txt", "hello"),
            *([file("settings/ui.ini", "[ui]\nopen=1\n")] if log else []),
        ]
        return recording("x.export", {}, [click("Save", files=tuple(files))], attempt=attempt)

    found = cases(
        "incidental_change",
        exported(log=True, attempt=0),
        other_trajectories=(exported(log=False, attempt=1),),
    )
    assert {item.path for item in found[0].evidence.files} == {"Downloads/a.txt"}


@pytest.mark.parametrize(
    ("value", "other"),
    [("true", "false"), ("12.50", "23.61"), ("Documents/a.csv", "Documents/azq7.csv"), ("Milk", "Milkzq7")],
)
def test_an_altered_value_has_the_same_shape(value: str, other: str) -> None:
    assert altered(value) == other


def test_the_screen_left_as_it_was_is_wrong_where_the_screen_is_the_result() -> None:
    found = cases("undone_change", page_opened())
    assert [item.description for item in found] == ["the screen still shows what it showed at the start"]
    assert not any(item.text == "Plans" for item in found[0].evidence.controls)


def test_a_message_may_be_gone_where_the_screen_is_the_result() -> None:
    def opened(message: str, attempt: int) -> Trajectory:
        shown = screen(control("Plans", "Heading"), control(message, "Text"))
        return recording("wiki.open", {}, [click("Send", controls=shown)], attempt=attempt)

    (found,) = cases("without_messages", opened("Welcome back", 0), other_trajectories=(opened("Hello", 1),))
    assert not any(item.text == "Welcome back" for item in found.evidence.controls)
    assert any(item.text == "Plans" for item in found.evidence.controls)


def test_a_clipboard_that_was_full_before_is_no_untouched_product() -> None:
    done = text_copied()
    assert done.final_evidence.clipboard == ClipboardState(text="Some words")
    assert cases("untouched_product", done) == []


def test_a_file_that_was_changed_is_not_removed() -> None:
    start = {"files": (file("Documents/old.txt", "old"), file("Documents/plan.txt", "keep"))}
    done = {"files": (file("Documents/plan.txt", "keep"),)}
    removed = recording("files.remove", {"path": "Documents/old.txt"}, [click("Delete", **done)], start=start)
    found = cases("wrong_value", removed)
    assert texts(found, "Documents/old.txt") == ["oldzq7"]


def both_muted(first: str, second: str, *, attempt: int = 0) -> Trajectory:
    def watches(*muted: str) -> tuple[FileState, ...]:
        return tuple(
            file(
                f".applications/watch/0b5f3a8e-6f0f-4c5f-9d0e-3a1f6f1c0a0{number}/watch.json",
                json.dumps({"title": title, "muted": title in muted, "count": 0}),
            )
            for number, title in enumerate(("Hours", "Trains", "Prices", "Pools"))
        )

    moves = [click(first, files=watches(first)), click(second, files=watches(first, second))]
    values = {"first": first, "second": second}
    return recording("watch.mute", values, moves, start={"files": watches()}, attempt=attempt)


def test_each_of_several_changed_records_is_asked_for_by_its_own_name() -> None:
    other = both_muted("Prices", "Pools", attempt=1)
    found = build_cases(
        both_muted("Hours", "Trains"), other_parameter_sets=(other.parameters,), other_trajectories=(other,)
    )
    asked = [dict(item.parameters) for item in found if item.family == "wrong_parameter"]
    assert {"first": "Hours", "second": "Pools"} in asked
    assert {"first": "Prices", "second": "Trains"} in asked
    assert {"first": "Trains", "second": "Hours"} not in asked, "both are muted either way"
