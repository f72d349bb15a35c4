"""Cases about what was given at the start, what was done beside the work, and what is tied together."""

from collections.abc import Mapping

from taskloom.synthesis.examination.other_work import tied_parameters
from taskloom.synthesis.examination.subject import Case, subject_of
from taskloom.synthesis.trajectories.settled_ends import left_open, unsettled
from taskloom.taskgraph.records.evidence import ClipboardState
from taskloom.taskgraph.records.interaction import Control
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.recordings import PLACE, click, control, file, page_opened, recording, screen
from tests.synthesis.test_case_building import cases

PASTED = "Bread, milk and apples"


def pasted(text: str = PASTED) -> Trajectory:
    return recording(
        "notes.paste",
        {"text_path": "Documents/list.txt"},
        [click("Save", files=(file("Documents/list.txt", f"{text}\n"),))],
        start={"clipboard": ClipboardState(text=text)},
    )


def row(name: str, state: str) -> Control:
    return Control(label=f"{name}:{state}", text=state, control_type="DataItem", row=name, rectangle=PLACE)


def job_started(message: str = "Job backup started") -> Trajectory:
    before = screen(row("backup", "stopped"), row("mailer", "stopped"))
    after = screen(row("backup", "running"), row("mailer", "stopped"), control(message, "Text"))
    return recording(
        "jobs.start",
        {"job": "backup"},
        [click("New", controls=after, url=f"http://jobs/?message={message}")],
        start={"controls": before, "url": "http://jobs/"},
        instruction="Start the job 'backup'.",
    )


def told(found: list[Case]) -> list[str]:
    return [item.description for item in found]


def test_what_is_pasted_must_be_what_was_given() -> None:
    found = [
        item
        for item in cases("wrong_value", pasted())
        if "held something else at the start" in item.description
    ]
    (case,) = found
    assert case.start.clipboard.text != PASTED
    assert case.evidence.files == pasted().final_evidence.files


def test_the_same_is_right_with_another_content() -> None:
    (case,) = [
        item for item in cases("second_positive", pasted()) if "the clipboard held" in item.description
    ]
    other = case.start.clipboard.text
    assert other and other != PASTED
    assert [item.text for item in case.evidence.files] == [f"{other}\n"]


def test_a_content_that_the_parameters_say_is_not_given_by_a_file_that_happens_to_hold_it() -> None:
    positive = recording(
        "tables.new",
        {"row": "item,count"},
        [click("Save", files=(file("a.csv", "item,count\n"), file("Documents/b.csv", "item,count\n")))],
        start={"files": (file("a.csv", "item,count\n"),)},
    )
    assert not any("at the start" in text for text in told(cases("wrong_value", positive)))


def test_a_message_about_a_state_that_is_shown_need_not_be_seen_again() -> None:
    (case,) = cases("without_messages", job_started())
    shown = {item.text for item in case.evidence.controls}
    assert "running" in shown and "Job backup started" not in shown
    assert case.evidence.url == "http://jobs/"


def test_a_page_that_is_the_result_is_not_taken_away() -> None:
    assert cases("without_messages", page_opened()) == []


def appended(instruction: str) -> Trajectory:
    return recording(
        "notes.append",
        {"line": "three"},
        [click("Save", files=(file("Documents/a.txt", "one\ntwo\nthree\n"),))],
        start={"files": (file("Documents/a.txt", "one\ntwo\n"),)},
        instruction=instruction,
    )


def tracks(parameters: Mapping[str, str]) -> Trajectory:
    listed = screen(control("1. Morning Tide", "ListItem"), control("2. Paper Boats", "ListItem"))
    return recording(
        "player.play",
        parameters,
        [click("Send", window_title="Playing: Paper Boats")],
        start={"controls": listed},
    )


def test_parameters_that_the_application_ties_together_are_not_changed_alone() -> None:
    parameters = {"title": "Paper Boats", "position": "2"}
    assert tied_parameters(subject_of(tracks(parameters))) == (frozenset(parameters),)
    assert cases("wrong_parameter", tracks(parameters)) == []
    assert told(cases("wrong_parameter", tracks({"title": "Paper Boats"}))) != []


def test_a_panel_beside_which_work_goes_on_waits_for_nobody() -> None:
    panel = Control(label="p", text="Stroke", control_type="Button", parent_type="Dialog", rectangle=PLACE)
    open_panel = screen(panel)
    worked = recording(
        "draw.box",
        {},
        [click("New", controls=open_panel), click("Save", controls=open_panel), click("Close")],
    )
    stopped = recording("draw.box", {}, [click("New", controls=open_panel)])
    assert unsettled(worked) == ()
    assert unsettled(stopped) == left_open((), [panel]) != ()
