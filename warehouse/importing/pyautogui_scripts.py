"""PyAutoGUI scripts as actions; scripts are parsed, never run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from taskloom.taskgraph.records.interaction import ClickInput, KeyboardInput, WaitInput, WheelMouseInput
from taskloom.warehouse.importing.episodes import Demonstrated, Picture, drag, literal_keys, point, understood

Value = str | int | float | list[str]
_CLICKS: Final[dict[str, tuple[Literal["left", "right", "middle"], bool]]] = {
    "click": ("left", False),
    "leftClick": ("left", False),
    "doubleClick": ("left", True),
    "rightClick": ("right", False),
    "middleClick": ("middle", False),
}
_MODIFIERS: Final = {
    "ctrl": "^",
    "ctrlleft": "^",
    "control": "^",
    "alt": "%",
    "altleft": "%",
    "option": "%",
    "shift": "+",
}
_KEYS: Final = {
    "enter": "ENTER",
    "return": "ENTER",
    "esc": "ESC",
    "escape": "ESC",
    "tab": "TAB",
    "backspace": "BACKSPACE",
    "delete": "DELETE",
    "space": "SPACE",
    "up": "UP",
    "down": "DOWN",
    "left": "LEFT",
    "right": "RIGHT",
    "home": "HOME",
    "end": "END",
    "pageup": "PGUP",
    "pagedown": "PGDN",
    **{f"f{number}": f"F{number}" for number in range(1, 13)},
}


@understood
def done_by(script: str, picture: Picture, *, fractions: bool) -> Demonstrated | None:
    """The single action that a script stands for; None if there is none, or several that are not one action
    here.

    Moving the pointer before a drag or a scroll belongs to that action, and so does clicking a place before
    typing.

    Args:
        script: the statements.
        picture: the screen before them.
        fractions: whether points are fractions of the screen rather than pixels.
    """
    start: tuple[float, float] | None = None
    found: list[Demonstrated | None] = []
    for name, positional, named in list(_calls(script)):
        at = _point(positional, named, picture, fractions)
        if name == "moveTo":
            start = at
        elif name == "dragTo" and start is not None and at is not None:
            found.append(drag([start, at], picture))
        else:
            found.append(_single(name, positional, named, at, picture))
    return found[0] if len(found) == 1 else _typed_into(found)


def _typed_into(found: Sequence[Demonstrated | None]) -> Demonstrated | None:
    """Typing into a place that is clicked first, or typing in several pieces, as one action; None for
    anything else."""
    first = found[0] if found else None
    if first is None:
        return None
    keyed = [item.action for item in found if item is not None and isinstance(item.action, KeyboardInput)]
    clicked = isinstance(first.action, ClickInput) and first.action == ClickInput(control_label="")
    if len(keyed) != len(found) - clicked or not keyed:
        return None
    return Demonstrated(KeyboardInput(keys="".join(action.keys for action in keyed)), first.rectangle)


def ends_task(script: str) -> bool:
    """Whether a script only ends the task."""
    return script.strip().startswith("computer.terminate")


def _single(
    name: str,
    positional: list[Value],
    named: dict[str, Value],
    at: tuple[float, float] | None,
    picture: Picture,
) -> Demonstrated | None:
    first = positional[0] if positional else next(iter(named.values()), "")
    if name in _CLICKS and at is not None:
        button, double = _CLICKS[name]
        if named.get("button") in ("left", "right", "middle"):
            button = named["button"]  # type: ignore[assignment]
        return Demonstrated(
            ClickInput(control_label="", button=button, double=double or named.get("clicks") == 2),
            point(*at, picture),
        )
    if name in ("write", "typewrite") and isinstance(first, str):
        return Demonstrated(KeyboardInput(keys=literal_keys(first)))
    if name == "press" and isinstance(first, str):
        return _chord([first])
    if name == "hotkey":
        keys = first if isinstance(first, list) else [part for part in positional if isinstance(part, str)]
        return _chord(keys)
    if name == "scroll" and isinstance(first, (int, float)) and first:
        return Demonstrated(WheelMouseInput(wheel_distance=int(first) or (1 if first > 0 else -1)))
    if name in ("sleep", "wait"):
        return Demonstrated(WaitInput(seconds=float(first) if isinstance(first, (int, float)) else 1.0))
    return None


def _chord(keys: list[str]) -> Demonstrated | None:
    written = ""
    for position, key in enumerate(keys):
        folded = key.casefold()
        if folded in _MODIFIERS and position < len(keys) - 1:
            written += _MODIFIERS[folded]
        elif folded in _KEYS:
            written += f"{{{_KEYS[folded]}}}"
        elif len(key) == 1:
            written += literal_keys(key)
        else:
            return None
    return Demonstrated(KeyboardInput(keys=written)) if written else None


def _calls(script: str) -> Iterator[tuple[str, list[Value], dict[str, Value]]]:
    """Name and literal arguments of every call; anything but method calls with literals is refused."""
    for statement in ast.parse(script).body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            continue
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            raise ValueError("no call")
        call = statement.value
        if not isinstance(call.func, ast.Attribute):
            raise ValueError("no method")
        named = {item.arg: ast.literal_eval(item.value) for item in call.keywords if item.arg}
        yield call.func.attr, [ast.literal_eval(item) for item in call.args], named


def _point(
    positional: list[Value], named: dict[str, Value], picture: Picture, fractions: bool
) -> tuple[float, float] | None:
    x = named.get("x", positional[0] if positional else None)
    y = named.get("y", positional[1] if len(positional) > 1 else None)
    if not isinstance(x, (int, float)) or not isinstance(y, (int, float)):
        return None
    return (float(x), float(y)) if fractions else (x / picture.width, y / picture.height)
