"""Actions of an agent as the inputs that a machine makes."""

from typing import Any

from taskloom.environments.aiming import Aim, parse_keys
from taskloom.taskgraph.records.interaction import (
    ClickInput,
    DragInput,
    HoldInput,
    KeyboardInput,
    MoveInput,
    WaitInput,
    WheelMouseInput,
)

Input = dict[str, Any]
"""One input of the machine's protocol."""


def inputs_of(aimed: Aim, display_size: tuple[int, int]) -> list[Input]:
    """The inputs that carry out an action; keys for a control that has not the focus click it first.

    Raises:
        ActionInvalidError: its keys do not parse.
    """
    action = aimed.action
    middle = (display_size[0] // 2, display_size[1] // 2)
    match action:
        case ClickInput():
            return [
                {
                    "kind": "click",
                    "point": action.point,
                    "button": action.button,
                    "times": action.times,
                    "held": action.held,
                }
            ]
        case MoveInput():
            return [{"kind": "move", "point": action.point}]
        case WheelMouseInput():
            point = action.point or middle
            return [
                {
                    "kind": "wheel",
                    "point": point,
                    "up": action.wheel_distance,
                    "sideways": action.wheel_sideways,
                }
            ]
        case KeyboardInput():
            presses = _presses(action.keys)
            if action.point is None or (aimed.target is not None and aimed.target.focused):
                return [{"kind": "keys", "presses": presses}]
            click = {"kind": "click", "point": action.point, "settle": True}
            return [click, {"kind": "keys", "presses": presses}]
        case HoldInput():
            return [{"kind": "hold", "presses": _presses(action.keys), "seconds": action.seconds}]
        case DragInput():
            return [{"kind": "drag", "points": action.points}]
        case WaitInput():
            return [{"kind": "wait", "seconds": action.seconds}]


def _presses(keys: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(press.key, press.modifiers) for press in parse_keys(keys)]
