"""Work that was done a second time somewhere else, or at the wrong end: another folder, another shape, the
first entry of a ledger."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.synthesis.examination.case_building import build_cases
from taskloom.synthesis.examination.examination import examine
from taskloom.synthesis.examination.verdict import Thresholds, feedback
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Control
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.evaluators_api.test_state_checks import ask
from tests.synthesis.recordings import click, control, file, note_written, recording, screen
from tests.synthesis.test_shown_work import written

LEDGER = '2025-01-01 open Assets:Cash\n2025-02-01 * "Shop" "Bread"\n  Expenses:Food  4 USD\n  Assets:Cash\n'
FOLDERS = ("Documents", "Downloads")


def made_folder(path: str, *beside: str) -> Trajectory:
    end = tuple(sorted({*FOLDERS, path, *beside}))
    return recording(
        "desk.folder", {"folder_path": path}, [click("New", directories=end)], start={"directories": FOLDERS}
    )


def drawn(label: str, count: int = 1) -> Trajectory:
    """A shape on a canvas that says all its texts: the shape is one text in it, or two that cover each
    other."""
    canvas = control(" ".join([label] * count), "Custom")
    inside = Control.model_validate(
        {**control(label, "Text").model_dump(), "parent_text": canvas.text, "parent_type": "Custom"}
    )
    return recording("desk.shape", {"label": label}, [click("New", controls=screen(canvas, inside))])


def opened(account: str, *, first: bool = False, width: int = 1) -> Trajectory:
    line = f"2026-01-01{' ' * width}open {account}\n"
    return recording(
        "money.open",
        {"account": account},
        [click("Save", files=(file("Documents/a.beancount", line + LEDGER if first else LEDGER + line),))],
        start={"files": (file("Documents/a.beancount", LEDGER),)},
        instruction=f"Open the account '{account}' at the end of the ledger.",
    )


def harms(trajectories: Sequence[Trajectory]) -> set[str]:
    cases = build_cases(trajectories[0], other_trajectories=trajectories[1:])
    return {case.description for case in cases if not case.right}


FIRST_LINES = "def evaluate_agent_task_completion({}: str) -> EvalResult:\n    done = {}\n"
LAST_LINE = "    return EvalResult(done, 'done', 1.0 * done)\n"


@pytest.mark.parametrize(
    ("trajectories", "call", "lax", "harm"),
    [
        (
            [made_folder("Documents/one"), made_folder("Documents/two")],
            "check_other_folders_unchanged(folders=[folder_path])",
            FIRST_LINES.format(
                "folder_path", "check_file_changed(folder_path) and check_other_files_unchanged([])"
            ),
            "the folder Downloads/one was made as well",
        ),
        (
            [drawn("Router"), drawn("Printer")],
            "check_text_shown_times(text=label, times=1)",
            FIRST_LINES.format("label", "check_text_exists_via_control(label, exact=True)"),
            "'Router' is there twice",
        ),
        (
            [drawn("Router"), drawn("Printer")],
            "check_canvas(text=label)",
            FIRST_LINES.format("label", "check_text_shown_times(label, times=1)"),
            "was drawn as well",
        ),
        (
            [opened("Expenses:Gifts"), opened("Expenses:Hobby")],
            "check_text_extended(file_path='Documents/a.beancount', text='2026-01-01 open ' + account)",
            FIRST_LINES.format(
                "account",
                "check_record('Documents/a.beancount', {'rest': account, 'type': 'open', 'date':"
                " '2026-01-01'}) and check_other_records_unchanged('Documents/a.beancount', added=1)",
            ),
            "stands at the beginning instead of the end",
        ),
    ],
    ids=["folder", "shape", "other shape", "ledger"],
)
def test_it_is_tried_and_asked_for(
    trajectories: list[Trajectory], call: str, lax: str, harm: str, shared_sandbox: EvaluationSandbox
) -> None:
    assert call in written(trajectories)
    assert any(harm in text for text in harms(trajectories))
    cases = build_cases(trajectories[0], other_trajectories=trajectories[1:])
    for source, refused in ((lax + LAST_LINE, True), (written(trajectories), False)):
        told = feedback(
            examine(source, trajectories[0], cases, shared_sandbox), Thresholds(least_other_subtasks=0)
        )
        assert (harm in told) is refused


def test_other_folders_are_as_they_were() -> None:
    def others(done: Trajectory, folder: str) -> object:
        return ask(
            done.final_evidence, "check_other_folders_unchanged", done.initial_evidence, folders=[folder]
        )

    assert others(made_folder("Documents/one"), "Documents/one") is True
    assert others(made_folder("Documents/a/one", "Documents/a"), "Documents/a/one") is True
    assert (
        others(made_folder("Documents/one", "Documents/.hidden", ".applications/x"), "Documents/one") is True
    )
    assert others(made_folder("Documents/one", "Documents/one/more"), "Documents/one") is False
    assert others(made_folder("Documents/one", "Downloads/one"), "Documents/one") is False
    gone = made_folder("Documents/one")
    emptied = gone.model_copy(
        update={"initial_evidence": gone.final_evidence, "steps": made_folder("Documents").steps}
    )
    assert others(emptied, "Documents/one") is True
    assert others(emptied, "Documents/two") is False


def test_folders_of_applications_and_those_around_a_new_file_are_no_others() -> None:
    def attached(name: str) -> Trajectory:
        end = (*FOLDERS, f".applications/desk/{name}")
        return recording(
            "desk.attach",
            {"name": name},
            [
                click(
                    "New", directories=end, files=(file(f".applications/desk/{name}/a.txt", "what it holds"),)
                )
            ],
            start={"directories": FOLDERS},
        )

    for both, folders in (
        ([attached("one"), attached("two")], "folders=[])"),
        ([note_written(), note_written("Documents/b.txt", "Buy bread")], 'folders=["'),
    ):
        assert f"check_other_folders_unchanged({folders}" in written(both)
        assert any("the folder" in text for text in harms(both))


def test_where_work_leaves_other_folders_behind_nothing_is_asked() -> None:
    def filed(path: str, *beside: str) -> Trajectory:
        end = tuple(sorted({*FOLDERS, *beside}))
        return recording(
            "desk.file",
            {"path": path},
            [click("New", directories=end, files=(file(path, "what it holds"),))],
            start={"directories": FOLDERS},
        )

    both = [filed("Documents/a.txt"), filed("Documents/b.txt", "Downloads/parts")]
    assert "check_other_folders_unchanged" not in written(both)
    assert not any("the folder" in text for text in harms(both))


@pytest.mark.parametrize(
    ("text", "times", "expected"),
    [("Router", 1, True), ("Router", 2, False), ("router", 1, False), ("router", 0, True), ("Rout", 0, True)],
)
def test_a_text_is_counted_letter_by_letter(text: str, times: int, expected: bool) -> None:
    end = drawn("Router").final_evidence
    assert ask(end, "check_text_shown_times", text=text, times=times) is expected


def test_a_single_shape_is_the_canvas_and_another_one_beside_it_is_tried() -> None:
    both = [
        recording("desk.shape", {"label": label}, [click("New", controls=screen(control(label, "Custom")))])
        for label in ("Router", "Printer")
    ]
    assert "check_canvas(text=label)" in written(both)
    assert any("was drawn as well" in text for text in harms(both))


def test_a_canvas_says_all_its_texts() -> None:
    assert ask(drawn("Router").final_evidence, "check_canvas", text="Router") is True
    assert ask(drawn("Router", 2).final_evidence, "check_canvas", text="Router") is False
    alone = Evidence(step=1, controls=(control("Router", "Custom"),))
    assert ask(alone, "check_canvas", text="Router") is True
    assert ask(alone, "check_canvas", text="router") is False


def test_what_covers_another_is_counted_by_what_is_around_them() -> None:
    assert ask(drawn("Router", 2).final_evidence, "check_text_shown_times", text="Router", times=2) is True


def test_an_entry_of_a_ledger_is_at_its_end_however_wide_its_columns_are() -> None:
    for done, expected in (
        (opened("A:B", width=4), True),
        (opened("A:B", first=True), False),
        (opened("A:C"), False),
    ):
        found = ask(
            done.final_evidence,
            "check_text_extended",
            done.initial_evidence,
            file_path="Documents/a.beancount",
            text="2026-01-01 open A:B",
        )
        assert found is expected


def renamed(name: str, new: str) -> Trajectory:
    def flows(label: str) -> str:
        return json.dumps(
            [{"id": "c1", "label": label, "info": "what it does"}, {"id": "c2", "label": "Z", "info": "z"}]
        )

    path = ".applications/desk/flows.json"
    return recording(
        "desk.rename",
        {"name": name, "new_name": new},
        [click("Save", files=(file(path, flows(new)),))],
        start={"files": (file(path, flows(name)),)},
    )


def deleted(title: str) -> Trajectory:
    other = file(".applications/desk/notes/other.tid", "title: other\n\nstays")
    note = file(f".applications/desk/notes/{title}.tid", f"title: {title}\n\nwhat was written down")
    return recording(
        "desk.delete", {"title": title}, [click("Close", files=(other,))], start={"files": (note, other)}
    )


def test_another_field_of_the_changed_record_is_tried_and_asked_for(
    shared_sandbox: EvaluationSandbox,
) -> None:
    both = [renamed("Ideas", "Thoughts"), renamed("Sales", "Turnover")]
    source = written(both)
    assert (
        "check_other_fields_unchanged(file_path='.applications/desk/flows.json', fields=['label'])" in source
    )
    assert any("info was changed as well" in text for text in harms(both))
    cases = build_cases(both[0], other_trajectories=both[1:])
    for asked, good in ((source, True), (re.sub(r".*check_other_fields_unchanged.*\n", "", source), False)):
        told = feedback(examine(asked, both[0], cases, shared_sandbox), Thresholds(least_other_subtasks=0))
        assert ("info was changed as well" not in told) is good


def test_a_note_that_is_only_emptied_is_not_deleted(shared_sandbox: EvaluationSandbox) -> None:
    both = [deleted("Alpha"), deleted("Beta")]
    assert any("is still there and only empty" in text for text in harms(both))
    cases = build_cases(both[0], other_trajectories=both[1:])
    told = feedback(
        examine(written(both), both[0], cases, shared_sandbox), Thresholds(least_other_subtasks=0)
    )
    assert "only empty" not in told


def test_other_fields_are_those_of_records_that_were_there() -> None:
    done = renamed("Ideas", "Thoughts")
    start, end = done.initial_evidence, done.final_evidence

    def others(after: Evidence, *fields: str) -> object:
        path = ".applications/desk/flows.json"
        return ask(after, "check_other_fields_unchanged", start, file_path=path, fields=list(fields))

    assert others(end, "label") is True
    assert others(end, "info") is False
    held = json.loads(end.files[0].text or "")
    more = json.dumps([*held, {"id": "c3", "label": "new", "info": "new"}])
    assert others(end.model_copy(update={"files": (file(end.files[0].path, more),)}), "label") is True
    held[0]["disabled"] = True
    off = json.dumps(held)
    assert others(end.model_copy(update={"files": (file(end.files[0].path, off),)}), "label") is False


def test_a_canvas_says_exactly_the_texts() -> None:
    long = "Devices Printer on floor two"
    assert ask(drawn(long).final_evidence, "check_text_exists_via_control", text=long, exact=True) is True
    more = Evidence(step=1, controls=(control(f"{long} Scanner", "Custom"),))
    assert ask(more, "check_text_exists_via_control", text=long, exact=True) is False
    page = Evidence(step=1, controls=(control(f"{long} Scanner", "Text"),))
    assert ask(page, "check_text_exists_via_control", text=long, exact=True) is True
