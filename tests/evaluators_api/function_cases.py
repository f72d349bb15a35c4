"""The finished state that realistic evaluation functions judge, and what a case of theirs is."""

from __future__ import annotations

from dataclasses import dataclass

from taskloom.resources.applications import ControlQuery
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence, FileState, InputEvent
from taskloom.taskgraph.records.interaction import Control, Rectangle

PLACE = Rectangle(left=0, top=0, right=10, bottom=10)
FINISHED = Evidence(
    step=4,
    inputs=(
        InputEvent(step=1, kind="click", control=ControlQuery(text="More actions", control_type="Button")),
        InputEvent(step=2, kind="click", control=ControlQuery(text="Import\u2026", control_type="MenuItem")),
        InputEvent(step=3, kind="text", text="Documents/plan.csv"),
        InputEvent(step=3, kind="key", text="enter"),
        InputEvent(step=4, kind="click", control=ControlQuery(text="&Open", control_type="Button")),
    ),
    controls=(
        Control(label="1", text="Imported 3 tasks", control_type="Text", rectangle=PLACE),
        Control(label="2", text="Title", control_type="Edit", value="Quarterly plan", rectangle=PLACE),
        Control(label="3", text="Notify me", control_type="CheckBox", checked=True, rectangle=PLACE),
    ),
    clipboard=ClipboardState(text="Total: 1,250"),
    files=(
        FileState(path="Documents/plan.csv", size=9, sha256="0" * 64, text="task,owner\nWrite report,Ann\n"),
        FileState(
            path="Documents/notes/Kick-off.md", size=9, sha256="1" * 64, text="# Kick-off\nMeet at 10:30.\n"
        ),
    ),
    directories=("Documents", "Documents/notes"),
    active_application="tasks",
    window_title="plan.csv - Tasks",
    url="http://localhost/board#imported",
)
PARAMETERS = {"csv_path": "Documents/plan.csv", "note": "Kick-off"}


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    source: str
    expected: bool | str
    progress: float | None = None


def entry(*lines: str, before: str = "", signature: str = "csv_path: str, note: str") -> str:
    head = f"def evaluate_agent_task_completion({signature}):\n"
    return before + head + "".join(f"    {line}\n" for line in lines)


NAMEDTUPLE = (
    "from collections import namedtuple\nEvalResult = namedtuple('EvalResult', ['success', 'message',"
    " 'progress'])\n"
)
