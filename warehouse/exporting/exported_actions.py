"""Actions as other formats write them: the paper's records, points on the screen, PyAutoGUI statements."""

from __future__ import annotations

import struct
from typing import Final, Literal

from taskgraph.errors import KeysInvalidError
from taskgraph.records.interaction import ClickInput, DragInput, KeyboardInput, WaitInput, WheelMouseInput
from taskgraph.records.keys import read_keys, runs
from taskgraph.records.trajectory import TrajectoryStep

Coordinates = Literal["absolute", "unit", "thousand"]
"""Pixels, 0 to 1, or 0 to 1000."""
_PYAUTOGUI: Final = {"escape": "esc", "contextmenu": "apps"}
"""Keys that PyAutoGUI calls otherwise."""


def paper_action(step: TrajectoryStep) -> dict[str, object]:
    """An action in the fields of App. C.2; `rect` is null where no control was acted on."""
    action = step.action
    if isinstance(action, ClickInput):
        arguments: dict[str, object] = {"button": action.button, "double": action.double}
        if action.position is not None:
            arguments["position"] = list(action.position)
    elif isinstance(action, WheelMouseInput):
        arguments = {"wheel_dist": action.wheel_distance}
    elif isinstance(action, KeyboardInput):
        arguments = {"keys": action.keys}
    elif isinstance(action, DragInput):
        arguments = {"path": [list(point) for point in action.path]}
    else:
        arguments = {"seconds": action.seconds}
    return {
        "function": action.operation,
        "args": arguments,
        "rect": list(step.target_rectangle) if step.target_rectangle else None,
        "description": step.description,
        "thought": step.thought,
        "control_text": step.target.text if step.target else "",
    }


def image_size(png: bytes) -> tuple[int, int]:
    """Width and height of a PNG, in pixels; (0, 0) where there is no picture."""
    if len(png) < 24:
        return (0, 0)
    width, height = struct.unpack(">II", png[16:24])
    return int(width), int(height)


def points_of(step: TrajectoryStep) -> list[tuple[int, int]]:
    """The points of a step on the screen, in pixels, every one inside the control's rectangle."""
    if step.target_rectangle is None:
        return []
    action = step.action
    if isinstance(action, DragInput):
        fractions = list(action.path)
    elif isinstance(action, ClickInput) and action.position is not None:
        fractions = [action.position]
    elif isinstance(action, WaitInput):
        return []
    else:
        fractions = [(0.5, 0.5)]
    left, top, right, bottom = step.target_rectangle
    return [
        (_inside(left + (right - left) * x, left, right), _inside(top + (bottom - top) * y, top, bottom))
        for x, y in fractions
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


def unscaled(value: list[float], size: tuple[int, int], coordinates: Coordinates) -> tuple[int, int]:
    """The pixel that scaled coordinates stand for."""
    if coordinates == "absolute":
        return int(value[0]), int(value[1])
    unit = 1 if coordinates == "unit" else 1000
    return int(value[0] / unit * size[0]), int(value[1] / unit * size[1])


def call_text(step: TrajectoryStep, size: tuple[int, int], coordinates: Coordinates) -> str:
    """The action as one call, such as `click_input(point=[10, 20], button='left', double=False)`."""
    arguments: dict[str, object] = {}
    points = [scaled(point, size, coordinates) for point in points_of(step)]
    if isinstance(step.action, DragInput):
        arguments["path"] = points
    elif points:
        arguments["point"] = points[0]
    for name, value in step.action.model_dump(
        exclude={"operation", "control_label", "position", "path"}
    ).items():
        arguments[name] = value
    written = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return f"{step.action.operation}({written})"


def pyautogui_statements(step: TrajectoryStep) -> list[str]:
    """The step as PyAutoGUI statements (the action space of OmniACT, Table 2)."""
    action, points = step.action, points_of(step)
    if isinstance(action, WaitInput):
        return []
    if isinstance(action, DragInput):
        first, *others = points
        return [f"pyautogui.moveTo({first[0]}, {first[1]})"] + [
            f"pyautogui.dragTo({x}, {y}, button='left')" for x, y in others
        ]
    if isinstance(action, WheelMouseInput):
        move = [f"pyautogui.moveTo({x}, {y})" for x, y in points]
        return [*move, f"pyautogui.scroll({action.wheel_distance})"]
    if isinstance(action, KeyboardInput):
        return [f"pyautogui.click({x}, {y})" for x, y in points] + _typing(action.keys)
    x, y = points[0] if points else (0, 0)
    if action.double:
        return [f"pyautogui.doubleClick({x}, {y})"]
    if action.button == "right":
        return [f"pyautogui.rightClick({x}, {y})"]
    return [
        f"pyautogui.click({x}, {y})"
        if action.button == "left"
        else f"pyautogui.click({x}, {y}, button='middle')"
    ]


def _typing(keys: str) -> list[str]:
    """Keys as PyAutoGUI statements; imported keys that break the syntax are text that was typed as it stands."""
    try:
        presses = read_keys(keys)
    except KeysInvalidError:
        return [f"pyautogui.write({keys!r})"]
    statements: list[str] = []
    for part in runs(presses):
        if isinstance(part, str):
            statements.append(f"pyautogui.write({part!r})")
        elif part.modifiers:
            names = [*part.modifiers, _PYAUTOGUI.get(part.key, part.key.lower())]
            statements.append(f"pyautogui.hotkey({', '.join(map(repr, names))})")
        else:
            statements.append(f"pyautogui.press({_PYAUTOGUI.get(part.key, part.key)!r})")
    return statements


def _inside(value: float, low: int, high: int) -> int:
    return max(low, min(int(value), high - 1))
