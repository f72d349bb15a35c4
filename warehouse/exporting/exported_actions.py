"""Actions as others write them: in words, the paper's records, points on the screen, PyAutoGUI statements."""

import struct
from collections.abc import Sequence
from typing import Final, Literal

from taskloom.taskgraph.records.gestures import GESTURES, DragInput, PointedGesture
from taskloom.taskgraph.records.trajectory import TrajectoryStep

Coordinates = Literal["absolute", "unit", "thousand"]
"""Pixels, 0 to 1, or 0 to 1000."""
_PLACES: Final = frozenset({"operation", "control_label", "end_label", "point", "points", "position", "path"})
"""Fields of gestures that say where; calls name points of the screen instead."""


def paper_action(step: TrajectoryStep) -> dict[str, object]:
    """An action in the fields of App. C.2; `rect` is null where no control was acted on."""
    return {
        "function": step.action.operation,
        "args": step.action.arguments(),
        "rect": list(step.target_rectangle) if step.target_rectangle else None,
        "description": step.description,
        "thought": step.thought,
        "control_text": step.target.text if step.target else "",
    }


def in_words(step: TrajectoryStep) -> str:
    """What a step did: `click Button “Save”`, `type “hello”, press Enter in Edit “Title”`."""
    target = ""
    if step.target:
        name = f"“{step.target.text}”" if step.target.text else ""
        target = f"{step.target.control_type} {name}".strip()
    return step.action.in_words(target)


def image_size(png: bytes) -> tuple[int, int]:
    """Width and height of a PNG, in pixels; (0, 0) where there is no picture."""
    if len(png) < 24:
        return (0, 0)
    width, height = struct.unpack(">II", png[16:24])
    return int(width), int(height)


def points_of(step: TrajectoryStep) -> list[tuple[int, int]]:
    """The points of a step on the screen, in pixels, as recorded or else from the control's rectangle."""
    action = step.action
    if isinstance(action, DragInput) and action.points:
        return list(action.points)
    if isinstance(action, PointedGesture) and action.point is not None:
        return [action.point]
    if step.target_rectangle is None:
        return []
    left, top, right, bottom = step.target_rectangle
    return [
        (_inside(left + (right - left) * x, left, right), _inside(top + (bottom - top) * y, top, bottom))
        for x, y in action.fractions
    ]


def scaled(point: tuple[int, int], size: tuple[int, int], coordinates: Coordinates) -> list[float]:
    """A point in the wanted coordinates, rounded so that it still stands for the same pixel."""
    if coordinates == "absolute":
        return [point[0], point[1]]
    unit = 1 if coordinates == "unit" else 1000
    digits = 5 if coordinates == "unit" else 1
    return [
        round((value + 0.5) / max(extent, 1) * unit, digits)
        for value, extent in zip(point, size, strict=True)
    ]


def unscaled(value: Sequence[float], size: tuple[int, int], coordinates: Coordinates) -> tuple[int, int]:
    """The pixel that scaled coordinates stand for."""
    x, y = value
    if coordinates == "absolute":
        return int(x), int(y)
    unit = 1 if coordinates == "unit" else 1000
    return int(x / unit * size[0]), int(y / unit * size[1])


def call_text(step: TrajectoryStep, size: tuple[int, int], coordinates: Coordinates) -> str:
    """The action as one call, such as `click_input(point=[10, 20], button='left', double=False)`."""
    arguments = {
        name: tuple(value) if isinstance(value, list) and name == "held" else value
        for name, value in call_arguments(step, size, coordinates).items()
    }
    written = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return f"{step.action.operation}({written})"


def call_arguments(
    step: TrajectoryStep, size: tuple[int, int], coordinates: Coordinates
) -> dict[str, object]:
    """The arguments of the action as one call: where, on which control, and how."""
    arguments: dict[str, object] = {}
    points = [scaled(point, size, coordinates) for point in points_of(step)]
    if isinstance(step.action, DragInput):
        arguments["path"] = points
    elif points:
        arguments["point"] = points[0]
    arguments |= step.action.model_dump(mode="json", exclude=set(_PLACES))
    if isinstance(step.action, PointedGesture) and step.target and not step.action.control_text:
        arguments["control_text"] = step.target.text
    return arguments


def announced_calls() -> str:
    """The calls that `call_text` writes, with the names of their arguments."""
    calls = []
    for name, gesture in GESTURES.items():
        arguments = [field for field in gesture.model_fields if field not in _PLACES]
        if issubclass(gesture, PointedGesture):
            arguments.insert(0, "path" if issubclass(gesture, DragInput) else "point")
        calls.append(f"{name}({', '.join(arguments)})")
    return ", ".join(calls)


def pyautogui_statements(step: TrajectoryStep) -> list[str]:
    """The step as PyAutoGUI statements (the action space of OmniACT, Table 2)."""
    return step.action.statements(points_of(step))


def _inside(value: float, low: int, high: int) -> int:
    return max(low, min(int(value), high - 1))
