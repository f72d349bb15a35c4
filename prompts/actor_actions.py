"""An actor's steps in the words of its prompt, and the action that its reply means, in any coordinates."""

import json
from collections.abc import Callable

from pydantic import TypeAdapter, ValidationError

from taskloom.prompts.inputs import StepInHistory
from taskloom.prompts.replies import ActorReply, ScreenPoint
from taskloom.taskgraph.records.gestures import GESTURES, Action, Coordinates, Point, PointedGesture
from taskloom.taskgraph.records.trajectory import TrajectoryStep

_ACTION: TypeAdapter[Action] = TypeAdapter(Action)
_SCALES: dict[Coordinates, Callable[[float, int], float]] = {
    "pixels": lambda value, extent: value,
    "fractions": lambda value, extent: value * extent,
    "thousandths": lambda value, extent: value / 1000 * extent,
}


def action_of_reply(
    reply: ActorReply, coordinates: Coordinates = "labels", screen_size: tuple[int, int] = (1280, 800)
) -> Action | None:
    """The action of a reply, or None if its function lacks a required argument.

    Arguments of other functions are ignored, and so are points unless the actor was asked for them.
    """
    gesture = GESTURES.get(reply.function)
    if gesture is None:
        return None
    arguments = reply.args
    path = tuple((point.x, point.y) for point in arguments.path)
    screen_points = arguments.points if coordinates != "labels" else ()
    points = tuple(pixel(point, coordinates, screen_size) for point in screen_points)
    values: dict[str, object] = {
        **arguments.model_dump(exclude={"wheel_dist", "path", "points"}),
        "wheel_distance": arguments.wheel_dist,
        "path": path,
        "points": points,
        "control_label": reply.control_label,
        "control_text": reply.control_text,
    }
    if "path" not in gesture.model_fields:
        values["position"] = path[0] if path else None
        values["point"] = points[0] if points and not reply.control_label else None
    if "keys" in gesture.model_fields and not arguments.keys:
        return None
    known = {name: value for name, value in values.items() if name in gesture.model_fields}
    if points and issubclass(gesture, PointedGesture) and not reply.control_label:
        known["control_text"] = ""  # a point needs no name
    try:
        return _ACTION.validate_python({"operation": reply.function, **known})
    except ValidationError:
        return None


def in_history(step: TrajectoryStep) -> StepInHistory:
    """A step as it appears in the actor's prompt."""
    return StepInHistory(
        step=step.step,
        thought=step.thought,
        function=step.action.operation,
        control_text=step.target.text if step.target else "",
        row=(step.target.row or "") if step.target else "",
        args=json.dumps(step.action.arguments(), ensure_ascii=False),
        outcome=step.problem or "done",
        change=step.change,
    )


def pixel(point: ScreenPoint, coordinates: Coordinates, screen_size: tuple[int, int]) -> Point:
    """The pixel of a point; the far edge is the last pixel.

    >>> pixel(ScreenPoint(x=1000, y=500), "thousandths", (1280, 800))
    (1279, 400)
    """
    scale = _SCALES[coordinates]
    x, y = (int(scale(value, extent)) for value, extent in zip((point.x, point.y), screen_size, strict=True))
    if coordinates == "pixels":
        return x, y  # a pixel outside of the screen is refused, not moved
    return min(x, screen_size[0] - 1), min(y, screen_size[1] - 1)
