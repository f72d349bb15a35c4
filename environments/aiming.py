"""Resolves the target of an action: the control that it names, or the one at its point. An action without a
valid target is refused with a message that an agent can act on, and nothing is done. Inputs are logged as
evidence."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from taskloom.environments.errors import ActionInvalidError
from taskloom.taskgraph.errors import KeysInvalidError
from taskloom.taskgraph.records.evidence import InputEvent
from taskloom.taskgraph.records.gestures import (
    Action,
    DragInput,
    Fraction,
    KeyboardInput,
    Point,
    PointedGesture,
)
from taskloom.taskgraph.records.grounding import describe_control
from taskloom.taskgraph.records.interaction import Control, WheelMouseInput
from taskloom.taskgraph.records.keys import KeyPress, read_keys
from taskloom.taskgraph.text_folding import fold_label, same_label

_ELLIPSES = ("…", "...")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Aim:
    """An action with its targets."""

    action: Action
    """The action, with label and point filled in where they are known."""
    target: Control | None = None
    """The control that it acts on; None for keys without one, waiting, and points outside all controls."""
    end: Control | None = None
    """The control that a drag ends on, if it is another one."""


def aim(action: Action, controls: Sequence[Control], screen_size: tuple[int, int]) -> Aim:
    """`action` aimed at one of `controls`.

    Raises:
        ActionInvalidError: it names an unknown label, a label and a text of two different controls, a point
            outside of the screen, or nothing although it needs a control or point.
    """
    if not isinstance(action, PointedGesture):
        return Aim(action)
    if isinstance(action, DragInput):
        return _aim_drag(action, controls, screen_size)
    if action.control_label:
        target = require_control(controls, action.control_label)
        _refuse_other_text(action.control_text, target, controls)
        point = target.point if action.position is None else _pixel(target, action.position)
        return Aim(action.model_copy(update={"point": point}), target)
    if action.point is not None:
        _refuse_outside(action.point, screen_size)
        hit = control_at(controls, action.point)
        if hit is None:
            return Aim(action)
        place = fraction_of(hit, action.point)
        return Aim(action.model_copy(update={"control_label": hit.label, "position": place}), hit)
    if action.control_text:
        named = _labels_of(action.control_text, controls)
        raise ActionInvalidError(f"No control was chosen; name the label of {action.control_text!r}{named}.")
    if isinstance(action, KeyboardInput | WheelMouseInput):
        return Aim(action)
    raise ActionInvalidError(
        f"The action {action.operation!r} names neither a control nor a point; name the label of a control."
    )


def control_at(controls: Sequence[Control], point: Point) -> Control | None:
    """The control at a point: the smallest that contains it; of several, the last in reading order."""

    def area(control: Control) -> int:
        place = control.rectangle
        return (place.right - place.left) * (place.bottom - place.top)

    hit = [control for control in controls if control.rectangle.contains(*point)]
    return min(reversed(hit), key=area, default=None)


def fraction_of(control: Control, point: Point) -> Fraction:
    """The place of `point` in the control, as fractions of its width and height."""
    place = control.rectangle
    return (
        round((point[0] - place.left) / max(1, place.right - place.left), 4),
        round((point[1] - place.top) / max(1, place.bottom - place.top), 4),
    )


def require_control(controls: Sequence[Control], label: str) -> Control:
    """The control with `label`; labels are assigned anew at every observation.

    Raises:
        ActionInvalidError: there is none; the message names the existing labels.
    """
    found = next((control for control in controls if control.label == label), None)
    if found is None:
        span = f"{controls[0].label} to {controls[-1].label}" if controls else "none"
        raise ActionInvalidError(f"There is no control {label!r} on the screen now; its labels are {span}.")
    return found


def refuse_stale(aimed: Aim, now: Sequence[Control]) -> None:
    """Make sure that the target of `aimed`, observed earlier, is still at its point among the controls `now`.

    Numbers in its text may have changed in the meantime, as in a clock.

    Raises:
        ActionInvalidError: the target moved or is gone.
    """
    target = aimed.target
    if target is None:
        return
    point = getattr(aimed.action, "point", None) or target.point
    matching = [control for control in now if _is_same(target, control)]
    if not any(control.rectangle.contains(*point) for control in matching):
        change = "has moved" if matching else "is gone"
        advice = "name it anew" if matching else "choose anew"
        raise ActionInvalidError(
            f"{target.control_type} {target.text!r} {change} since the screen was shown;"
            f" look again and {advice}."
        )


def parse_keys(keys: str) -> tuple[KeyPress, ...]:
    """The presses that `keys` stands for, in order (`taskloom.taskgraph.records.keys`).

    Raises:
        ActionInvalidError: they break the syntax; the message says where, and how to write them.
    """
    try:
        return read_keys(keys)
    except KeysInvalidError as error:
        raise ActionInvalidError(str(error)) from None


def _aim_drag(action: DragInput, controls: Sequence[Control], screen_size: tuple[int, int]) -> Aim:
    start = require_control(controls, action.control_label) if action.control_label else None
    end = require_control(controls, action.end_label) if action.end_label else None
    if start is not None:
        _refuse_other_text(action.control_text, start, controls)
    if action.path and start is not None:
        points = tuple(_pixel(start, place) for place in action.path)
    elif start is not None and end is not None:
        points = action.points or (start.point, end.point)
    else:
        points = action.points
    if len(points) < 2:
        raise ActionInvalidError("A drag needs at least two points, or a control to begin and one to end on.")
    for point in points:
        _refuse_outside(point, screen_size)
    start = start or control_at(controls, points[0])
    path = action.path
    if start is not None and not path and end is None:
        end = control_at(controls, points[-1])
        if end is None or end.label == start.label:
            path, end = tuple(fraction_of(start, point) for point in points), None
    values = {
        "points": points,
        "point": points[0],
        "path": path,
        "control_label": start.label if start else "",
        "end_label": end.label if end else "",
    }
    return Aim(action.model_copy(update=values), start, end)


def _pixel(control: Control, place: Fraction) -> Point:
    """The pixel at a fraction of a control; its right and lower edges are its last pixels."""
    x, y = control.rectangle.at(*place)
    return min(round(x), control.rectangle.right - 1), min(round(y), control.rectangle.bottom - 1)


def _refuse_outside(point: Point, screen_size: tuple[int, int]) -> None:
    width, height = screen_size
    if not (0 <= point[0] < width and 0 <= point[1] < height):
        raise ActionInvalidError(
            f"The point {point[0]}, {point[1]} is outside of the screen of {width} by {height} pixels."
        )


def _refuse_other_text(text: str, target: Control, controls: Sequence[Control]) -> None:
    """Refuse a label combined with the text of another control, or with the row of one with that text.

    A control without a text may be named by its row, parent or heading, or by a text that no control has.
    """
    wanted = fold_label(text)
    if not wanted or same_label(text, target.text) or same_label(text, target.value):
        return
    surroundings = [fold_label(name) for name in (target.row, target.section, target.parent_text) if name]
    if not target.text:
        if not _labels_of(text, controls) or any(name in wanted for name in surroundings):
            return
    else:
        shown = fold_label(target.text)
        if text.rstrip().endswith(_ELLIPSES) and shown.startswith(fold_label(text.rstrip().rstrip("…."))):
            return
        place = wanted.removeprefix(shown) if wanted.startswith((f"{shown} in ", f"{shown} under ")) else ""
        if place and (not surroundings or any(name in place for name in surroundings)):
            return
    named = _labels_of(text, controls)
    where = f" in row {target.row!r}" if target.row else ""
    raise ActionInvalidError(
        f"The label {target.label} is {target.control_type} {target.text!r}{where}, not {text!r}{named}."
        " Nothing was done."
    )


def _labels_of(text: str, controls: Sequence[Control]) -> str:
    labels = [control.label for control in controls if same_label(text, control.text)]
    return f", which has the label {' or '.join(labels[:4])}" if labels else ""


def _is_same(before: Control, now: Control) -> bool:
    return (
        before.control_type == now.control_type
        and before.row == now.row
        and _NUMBER.sub("0", before.text) == _NUMBER.sub("0", now.text)
    )


class InputLog:
    """Collects input events, oldest first."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything, as after a reset."""
        self.events: tuple[InputEvent, ...] = ()
        self.step = 0

    def note(
        self, action: Action, target: Control | None, controls: Sequence[Control], application: str
    ) -> None:
        """Add the inputs of `action` to `target`, one of `controls`, while `application` was in front."""
        query = describe_control(target, controls) if target is not None else None
        owner = target.application if target is not None and target.application else application
        self.events += tuple(
            InputEvent.model_validate(
                {"step": self.step, "kind": kind, "control": query, "application": owner, "text": text}
            )
            for kind, text in action.events()
        )


def under_pointer(controls: Sequence[Control], pointer: tuple[float, float]) -> str:
    """The text of the innermost control at `pointer`, or its value if it has no text."""
    for control in reversed(controls):
        if control.rectangle.contains(*pointer) and (control.text or control.value):
            return control.text or control.value
    return ""
