"""The same action again and again, although it changes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from taskloom.environments.changes import NOTHING_CHANGED
from taskloom.taskgraph.records.interaction import Action, WaitInput
from taskloom.taskgraph.records.trajectory import TrajectoryStep


def repeated_in_vain(history: Sequence[TrajectoryStep]) -> int:
    """How many of the last steps were one and the same action on the same control, refused or without effect
    on the screen.

    Waiting is no such action: a screen may change later.
    """
    count = 0
    for step in reversed(history):
        if not (step.problem or step.change == NOTHING_CHANGED) or isinstance(step.action, WaitInput):
            break
        if _what(step) != _what(history[-1]):
            break
        count += 1
    return count


def in_vain(history: Sequence[TrajectoryStep], times: int) -> str:
    """What is said about it, to the actor and to its next attempt."""
    last = history[-1]
    target = f" on {last.target.text!r}" if last.target is not None and last.target.text else ""
    result = last.problem or NOTHING_CHANGED
    return f"{last.action.operation}{target} was done {times} times with the same result: {result}"


def _what(step: TrajectoryStep) -> tuple[Action, object, str]:
    """The action, wherever the control is now, and why it was refused."""
    aimed = {"control_label": "", "end_label": "", "point": None, "points": ()}
    if step.target is None:
        aimed.pop("point")
    known = {name: value for name, value in aimed.items() if name in type(step.action).model_fields}
    return step.action.model_copy(update=known), step.target, step.problem
