"""Hand-made recordings: a notes application that stores what it is told in a file."""

from collections.abc import Mapping, Sequence

from taskloom.resources.applications import ControlQuery
from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence, FileState, InputEvent
from taskloom.taskgraph.records.interaction import (
    Action,
    ClickInput,
    Control,
    KeyboardInput,
    Rectangle,
    Screenshot,
)
from taskloom.taskgraph.records.subtask import BoundSubtask, instance_id
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep

PLACE = Rectangle(left=0, top=0, right=100, bottom=20)
Move = tuple[Action, ControlQuery, InputEvent, Mapping[str, object]]
"""What was done, where, as which input, and what it changed."""
BUTTONS = ("New", "Save", "Save As", "Send", "Close")


def control(text: str, control_type: str = "Button", value: str = "", label: str = "") -> Control:
    parent = ("Tools", "ToolBar") if control_type == "Button" else ("", "")
    return Control(
        label=label or f"{control_type}:{text}",
        text=text,
        control_type=control_type,
        value=value,
        parent_text=parent[0],
        parent_type=parent[1],
        rectangle=PLACE,
    )


def file(path: str, text: str) -> FileState:
    return FileState(path=path, size=len(text), sha256=f"{hash(text) & 0xFFFF:064x}", text=text)


def screen(*controls: Control) -> tuple[Control, ...]:
    return (*(control(text) for text in BUTTONS), *controls)


def recording(
    subtask_id: str,
    parameters: Mapping[str, str],
    moves: Sequence[Move],
    *,
    start: Mapping[str, object] | None = None,
    attempt: int = 0,
    instruction: str = "",
) -> Trajectory:
    """A finished recording; each move says what was done, where, as which input, and what it changed."""
    evidence = Evidence(
        step=0, controls=screen(), window_title="Notes", active_application="notes"
    ).model_copy(update=dict(start or {}))
    initial, steps = evidence, []
    for number, (action, target, event, changes) in enumerate(moves, start=1):
        before = evidence
        inputs = (*before.inputs, event.model_copy(update={"step": number}))
        evidence = before.model_copy(update={**changes, "inputs": inputs, "step": number})
        steps.append(
            TrajectoryStep(
                step=number,
                observation_screenshot=Screenshot(sha256=f"{number:064x}"),
                observation_controls=before.controls,
                action=action,
                target=target,
                evidence=evidence,
            )
        )
    return Trajectory(
        trajectory_id=f"{instance_id(subtask_id, parameters)}:{attempt}",
        subtask_id=subtask_id,
        instance_id=instance_id(subtask_id, parameters),
        parameters=dict(parameters),
        instruction=instruction or f"Do {subtask_id}.",
        platform="simulated",
        simulated=True,
        initial_evidence=initial,
        steps=tuple(steps),
        termination="finished",
        attempt=attempt,
    )


def click(text: str, **changes: object) -> Move:
    query = control(text).describe()
    event = InputEvent(step=0, kind="click", control=query, application="notes", text="left")
    return ClickInput(control_label=f"Button:{text}"), query, event, changes


def typing(into: str, text: str, **changes: object) -> Move:
    query = control(into, "Edit").describe()
    event = InputEvent(step=0, kind="text", control=query, application="notes", text=text)
    return KeyboardInput(control_label=f"Edit:{into}", keys=text), query, event, changes


def note_written(path: str = "Documents/todo.txt", text: str = "Buy milk", *, attempt: int = 0) -> Trajectory:
    """New, type, Save, close the message: four steps, of which the third stores and the fourth changes
    nothing lasting."""
    empty = screen(control("Text", "Edit"))
    typed = screen(control("Text", "Edit", text))
    told = screen(control("Text", "Edit", text), control(f"Saved {path}", "Text"))
    return recording(
        "notes.write",
        {"text_path": path, "text": text},
        [
            click("New", controls=empty),
            typing("Text", text, controls=typed),
            click("Save", controls=told, files=(file(path, text + "\n"),), directories=("Documents",)),
            click("Close", controls=typed),
        ],
        attempt=attempt,
    )


def text_copied(text: str = "Some words") -> Trajectory:
    return recording(
        "notes.copy", {"text": text}, [click("New"), click("Save As", clipboard=ClipboardState(text=text))]
    )


def message_sent(subject: str = "Hello") -> Trajectory:
    return recording(
        "mail.send",
        {"subject": subject},
        [typing("Subject", subject), click("Send", files=(file(f"outbox/{subject}.eml", subject),))],
    )


def page_opened(title: str = "Plans") -> Trajectory:
    """Nothing lasting changes: the result is what the screen shows."""
    return recording(
        "wiki.open",
        {"title": title},
        [
            click("New", controls=screen(control("Search", "Edit"))),
            click("Send", controls=screen(control(title, "Heading"))),
        ],
    )


def written_instance(path: str = "Documents/todo.txt", text: str = "Buy milk") -> BoundSubtask:
    parameters = {"text_path": path, "text": text}
    return BoundSubtask(
        instance_id=instance_id("notes.write", parameters),
        subtask_id="notes.write",
        application="notes",
        application_category="Note Management",
        instruction="Write it.",
        parameters=parameters,
        outputs=(Resource(category="text_path", kind=ResourceKind.FILE, value=path),),
    )
