"""What is kept of the effects of performances."""

from __future__ import annotations

from taskloom.resources.applications import ControlQuery
from taskloom.synthesis.cross_verification.clean_work import MOST_KEPT, performance_effects
from taskloom.taskgraph.records.evidence import InputEvent
from taskloom.taskgraph.records.interaction import KeyboardInput
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.recordings import file, recording


def saved(name: str, text: str, *, attempt: int = 0, extra: str = "") -> Trajectory:
    files = [file(name, text)] + ([file("log-of-mine.txt", extra)] if extra else [])
    where = ControlQuery(text="Note")
    typed = InputEvent(step=1, kind="text", text=text)
    move = (KeyboardInput(keys=text), where, typed, {"files": tuple(files)})
    return recording("notes.write", {"text": text, "text_path": name}, [move], attempt=attempt)


def test_what_all_that_agree_change_is_essential_in_terms_of_the_parameters() -> None:
    kept = performance_effects([saved("a.txt", "one two"), saved("b.txt", "three four")])

    assert [item.compared for item in kept] == [2, 2]
    assert {effect.container_template for item in kept for effect in item.essential} == {"{text_path}"}
    assert "{text}" in {effect.after_template for effect in kept[0].essential}
    assert kept[0].incidental == ()


def test_of_a_performance_alone_nothing_is_called_essential() -> None:
    (kept,) = performance_effects([saved("a.txt", "one two")])

    assert kept.compared == 1
    assert kept.essential == ()
    assert kept.incidental


def test_a_performance_that_strayed_is_kept_apart_from_those_that_agree() -> None:
    stray = saved("a.txt", "one two", attempt=1, extra="more")
    kept = performance_effects([saved("a.txt", "one two"), stray, saved("b.txt", "three four")])

    assert [item.compared for item in kept] == [2, 1, 2]
    assert kept[1].trajectory_id == stray.trajectory_id
    assert "log-of-mine.txt" in {effect.container for effect in kept[1].incidental}


def test_unfinished_performances_have_no_effects() -> None:
    gave_up = saved("a.txt", "one two").model_copy(update={"termination": "gave_up"})

    assert performance_effects([gave_up]) == ()


def test_more_effects_than_are_kept_are_counted() -> None:
    lines = "\n".join(f"line {number}" for number in range(2 * MOST_KEPT))
    (kept,) = performance_effects([saved("a.txt", lines)])

    assert len(kept.incidental) == MOST_KEPT
    assert kept.left_out > 0
