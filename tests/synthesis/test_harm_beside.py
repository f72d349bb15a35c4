"""Work that makes a file or fills the clipboard, and harms or adds to what an application keeps beside it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.synthesis.examination.case_building import build_cases
from taskloom.synthesis.examination.examination import examine
from taskloom.synthesis.examination.verdict import Thresholds, feedback
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence
from taskloom.taskgraph.records.interaction import Control
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.evaluators_api.test_state_checks import SHOP
from tests.synthesis.recordings import click, control, file, recording, screen
from tests.synthesis.test_shown_work import written

DATABASE = ".applications/desk/shop.db"
KEPT = (
    file(DATABASE, SHOP),
    file(".applications/desk/notes/one.tid", "title: First note\n\nBuy milk today"),
    file(".applications/desk/notes/two.tid", "title: Second note\n\nCall the plumber"),
)
BEFORE = "def evaluate_agent_task_completion(text: str) -> EvalResult:\n    done = check_clipboard_text(text)"
WITHOUT = f"{BEFORE} and check_other_files_unchanged([])\n    return EvalResult(done, 'copied', 1.0 * done)\n"
WITH = (
    f"{BEFORE} and check_other_files_unchanged([]) and check_other_records_unchanged('')\n"
    "    return EvalResult(done, 'copied', 1.0 * done)\n"
)


def copied(text: str) -> Trajectory:
    """A text of an application is in the clipboard, and all that it keeps is as it was."""
    return recording(
        "desk.copy",
        {"text": text},
        [click("Send", clipboard=ClipboardState(text=text))],
        start={"files": KEPT},
    )


def imported(title: str, more: int = 0) -> Trajectory:
    """A file became a note, with `more` notes beside it that hold something else."""
    made = [file(f".applications/desk/notes/{title}.tid", f"title: {title}\n\nfrom a file")]
    made += [file(f".applications/desk/notes/other{number}.tid", "title: x\n\ny") for number in range(more)]
    return recording(
        "desk.import", {"title": title}, [click("Send", files=(*KEPT, *made))], start={"files": KEPT}
    )


def harms(trajectories: Sequence[Trajectory]) -> set[str]:
    cases = build_cases(trajectories[0], other_trajectories=trajectories[1:])
    assert all(not case.right for case in cases if case.family == "collateral_loss")
    return {case.description for case in cases if case.family == "collateral_loss"}


def test_what_a_second_piece_of_work_leaves_is_tried() -> None:
    told = harms([copied("Some words"), copied("Other words")])
    assert any(text.startswith(f"{DATABASE}: a record was added") for text in told)
    assert any("a text in it was changed as well" in text for text in told)
    assert any(text.startswith(".applications/desk/") and text.endswith(" was made as well") for text in told)


def test_a_function_that_does_not_look_at_it_is_refused(shared_sandbox: EvaluationSandbox) -> None:
    first, second = copied("Some words"), copied("Other words")
    cases = build_cases(first, other_trajectories=[second])
    for source, good in ((WITHOUT, False), (WITH, True)):
        told = feedback(examine(source, first, cases, shared_sandbox), Thresholds(least_other_subtasks=0))
        assert ("collateral_loss" not in told) is good


def test_the_writer_asks_for_what_is_kept_and_how_much_is_new() -> None:
    assert "check_other_records_unchanged(file_path='')" in written([copied("Some words"), copied("Others")])
    source = written([imported("Alpha"), imported("Beta")])
    assert "check_other_records_unchanged(file_path='', added=1)" in source


def test_where_performances_make_files_that_nobody_can_name_any_number_may_be_new() -> None:
    different = [imported("Alpha"), imported("Beta", more=1)]
    assert "added=None" in written(different)
    assert "check_other_data_unchanged(" not in written(different)
    assert not any("added to it as well" in text for text in harms(different))


def started(job: str, *, shown: bool = True) -> Trajectory:
    """A job in a table of jobs wrote a file; which jobs run is on the screen alone."""
    jobs = ("writer", "lister", "mailer")
    ended = {"writer": "stopped", "lister": "stopped", "mailer": "running"}

    def table(states: dict[str, str]) -> tuple[Control, ...]:
        rows = [
            control(text, "Text").model_copy(update={"row": name, "label": f"{name}/{text}"})
            for name in jobs
            for text in (name, states[name])
        ]
        return screen(*rows)

    end = {**ended, job: "exited"}
    changes = {"controls": table(end)} if shown else {}
    done = click("Send", files=(file(f"Documents/{job}.txt", f"made by {job}"),), **changes)
    return recording("jobs.start", {"job": job}, [done], start={"controls": table(ended), "files": ()})


def test_another_thing_brought_into_the_same_state_is_tried_and_asked_for() -> None:
    both = [started("writer"), started("lister")]
    assert "check_other_rows_unchanged(rows=[job])" in written(both)
    assert "the row 'lister' shows 'exited' now as well" in harms(both)


def test_rows_say_nothing_where_the_application_keeps_the_state() -> None:
    def kept(job: str) -> Trajectory:
        trajectory = started(job)
        state = file(".applications/jobs/jobs.json", f'{{"{job}": "exited"}}')
        steps = tuple(
            step.model_copy(
                update={"evidence": step.evidence.model_copy(update={"files": (*step.evidence.files, state)})}
            )
            for step in trajectory.steps
        )
        return trajectory.model_copy(update={"steps": steps})

    both = [kept("writer"), kept("lister")]
    assert "check_other_rows_unchanged" not in written(both)
    assert not any(text.startswith("the row ") for text in harms(both))


@pytest.mark.parametrize("value", ["Desk lamp", "North"])
def test_slips_of_case_and_space_in_typed_values_are_tried(value: str) -> None:
    def added(name: str) -> Trajectory:
        old, new = "name,amount\nChair,3\n", f"name,amount\nChair,3\n{name},4\n"
        path = "Documents/stock.csv"
        moves = [click("Save", files=(file(path, new),))]
        return recording("stock.add", {"name": name}, moves, start={"files": (file(path, old),)})

    cases = build_cases(added(value), other_trajectories=[added("Shelf")])
    slips: dict[str, Evidence] = {
        case.description.partition(" is ")[2] or case.description.partition(" has ")[2]: case.evidence
        for case in cases
        if case.family == "wrong_value"
        and ("capital letters" in case.description or "a space" in case.description)
    }
    texts = {evidence.files_by_path()["Documents/stock.csv"].text or "" for evidence in slips.values()}
    assert any(f"{value.swapcase()},4" in text for text in texts)
