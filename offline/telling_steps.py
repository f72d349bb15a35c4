"""What the actor by rule says about a worked step: what it sees and why it acts; and finding a step again by that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prompts.inputs import StepInHistory
from resources.applications import WorkedStep
from taskgraph.records.subtask import fill

WAITING = "Waiting for"
"""How the thought of a step begins that waits for a control."""
_KINDS = {
    "Edit": "field",
    "Hyperlink": "link",
    "ComboBox": "list",
    "ListItem": "entry",
    "MenuItem": "menu entry",
    "DataItem": "menu entry",
    "RadioButton": "choice",
    "TaskBarButton": "task bar button",
}


def named(step: WorkedStep, parameters: Mapping[str, str]) -> str:
    """The control of a step as a person would name it; empty where it has none."""
    if step.control is None:
        return ""
    kind = _KINDS.get(step.control.control_type, step.control.control_type.lower() or "control")
    text = fill(step.control.text, parameters)
    return f"the {kind} '{text}'" if text else f"the {kind}"


def thought_of(step: WorkedStep, parameters: Mapping[str, str]) -> str:
    """Why a step is done: as the catalogue says, or what it is for."""
    if step.thought:
        return step.thought
    where = named(step, parameters)
    match step.operation:
        case "keyboard_input" if where:
            return f"This text belongs into {where}."
        case "keyboard_input":
            return "The keys go to what has the focus."
        case "wheel_mouse_input":
            return "What is needed is further along the page."
        case "drag_input":
            return f"The shape is drawn by dragging over {where}."
        case "wait":
            return "The page needs a moment."
        case _:
            return f"The way on is {where}." if where else "This is where the work goes on."


def seen(step: WorkedStep, parameters: Mapping[str, str], window_title: str) -> str:
    """What the screen shows that the step builds on."""
    window = f"The window '{window_title}' is in front" if window_title else "The application is in front"
    where = named(step, parameters)
    return f"{window}; {where} is there." if where else f"{window}."


def position_in(
    history: Sequence[StepInHistory], steps: Sequence[WorkedStep], parameters: Mapping[str, str]
) -> tuple[int, int]:
    """Number of worked steps behind us, and how often in a row the next one could not be done.

    Steps are recognised by their thoughts, in order; what else stands in the history is passed over.
    """
    thoughts = [thought_of(step, parameters) for step in steps]
    position, failures = 0, 0
    for item in history:
        if item.thought.startswith(WAITING):
            failures += 1
            continue
        index = next((at for at in range(position, len(steps)) if thoughts[at] == item.thought), None)
        if index is None:
            continue
        if item.outcome == "done":
            position, failures = index + 1, 0
        else:
            position, failures = index, failures + 1
    return position, failures
