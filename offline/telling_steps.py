"""What the actor by rule says about a worked step: what it sees and why it acts; and finding a step again by
that."""

from collections.abc import Mapping, Sequence

from taskloom.environments.screen_words import in_words
from taskloom.prompts.inputs import StepInHistory
from taskloom.resources.applications import WorkedStep
from taskloom.taskgraph.records.gestures import keys_in_words
from taskloom.taskgraph.records.grounding import find_control
from taskloom.taskgraph.records.interaction import Control, escape_keys
from taskloom.taskgraph.records.subtask import fill, fill_query

WAITING = "Waiting for"
"""How the thought of a step begins that waits for a control."""


def named(step: WorkedStep, parameters: Mapping[str, str], control: Control | None = None) -> str:
    """The control of a step as a person would name it, by what it is on the screen where it is there; empty
    without one."""
    if step.control is None:
        return ""
    kind = control.control_type if control is not None else step.control.control_type
    return in_words(kind, fill(step.control.text, parameters))


def thought_of(step: WorkedStep, parameters: Mapping[str, str]) -> str:
    """Why a step is done: as the catalogue says, or what it is for. The thoughts of the step begin with
    it."""
    if step.thought:
        return step.thought
    where = fill(step.control.text, parameters) if step.control is not None else ""
    match step.operation:
        case "keyboard_input" if where:
            return f"'{where}' takes what is typed next."
        case "keyboard_input":
            return "The keyboard does what is next."
        case "wheel_mouse_input":
            return "What is needed is further along the page."
        case "drag_input":
            return "The shape is drawn by dragging."
        case "wait":
            return "The page needs a moment."
        case _:
            return f"'{where}' is next." if where else "The place for the next step is known."


def whole_thought(
    steps: Sequence[WorkedStep],
    index: int,
    parameters: Mapping[str, str],
    target: Control | None,
    controls: Sequence[Control],
) -> str:
    """Why a step is done now, on this screen, and what is done: the reason, the deed, what it should lead
    to."""
    step = steps[index]
    deed = _deed(step, parameters, target, controls)
    ahead = _ahead(steps[index + 1 :], parameters, controls)
    return f"{thought_of(step, parameters)} {deed}{f'; {ahead}' if ahead else ''}."


def _ahead(later: Sequence[WorkedStep], parameters: Mapping[str, str], controls: Sequence[Control]) -> str:
    following = next((step for step in later if not step.optional), None)
    if following is None:
        return "with this the work is done"
    query = fill_query(following.control, parameters) if following.control is not None else None
    if query is None or not query.text or find_control(query, controls) is not None:
        return ""
    return f"this should bring up {named(following, parameters)}, which is not on the screen yet"


def _deed(
    step: WorkedStep, parameters: Mapping[str, str], target: Control | None, controls: Sequence[Control]
) -> str:
    where = named(step, parameters, target)
    match step.operation:
        case "click_input":
            how = "double-click" if step.double else "right-click" if step.button == "right" else "click"
            return f"I {how} {where}" if where else f"I {how} there"
        case "keyboard_input":
            keys = fill(step.keys, {name: escape_keys(value) for name, value in parameters.items()})
            focused = next((item for item in controls if item.focused), None)
            if where or focused is None:
                return f"I {keys_in_words(keys)}{f' in {where}' if where else ''}".strip()
            into = in_words(focused.control_type, focused.text)
            return f"{into[:1].upper()}{into[1:]} has the focus. I {keys_in_words(keys)} in {into}".strip()
        case "wheel_mouse_input":
            return f"I scroll {'up' if step.wheel_distance > 0 else 'down'}"
        case "drag_input":
            return f"I drag over {where}" if where else "I drag"
        case _:
            return "I wait"


def position_in(
    history: Sequence[StepInHistory], steps: Sequence[WorkedStep], parameters: Mapping[str, str]
) -> tuple[int, int]:
    """Number of worked steps behind us, and how often in a row the next one could not be done.

    Steps are recognised by how their thoughts begin, in order; what else stands in the history is passed
    over.
    """
    thoughts = [thought_of(step, parameters) for step in steps]
    position, failures = 0, 0
    for item in history:
        if item.thought.startswith(WAITING):
            failures += 1
            continue
        index = next(
            (at for at in range(position, len(steps)) if item.thought.startswith(thoughts[at])), None
        )
        if index is None:
            continue
        if item.outcome == "done":
            position, failures = index + 1, 0
        else:
            position, failures = index, failures + 1
    return position, failures
