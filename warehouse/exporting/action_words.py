"""Actions as a person would say them."""

from __future__ import annotations

from taskgraph.errors import KeysInvalidError
from taskgraph.records.interaction import ClickInput, DragInput, KeyboardInput, WaitInput, WheelMouseInput
from taskgraph.records.keys import read_keys, runs
from taskgraph.records.trajectory import TrajectoryStep


def in_words(step: TrajectoryStep) -> str:
    """What a step did: `click Button “Save”`, `type “hello”, press Enter in Edit “Title”`."""
    target = ""
    if step.target:
        name = f"“{step.target.text}”" if step.target.text else ""
        target = f"{step.target.control_type} {name}".strip()
    action = step.action
    if isinstance(action, KeyboardInput):
        return keys_in_words(action.keys) + (f" in {target}" if target else "")
    if isinstance(action, WaitInput):
        return f"wait {action.seconds:g} s"
    if isinstance(action, WheelMouseInput):
        way = "up" if action.wheel_distance > 0 else "down"
        return f"turn the wheel {way} by {abs(action.wheel_distance)}" + (f" over {target}" if target else "")
    if isinstance(action, DragInput):
        return f"drag in {target or f'control {action.control_label}'}"
    return f"{_click(action)} {target or f'control {action.control_label}'}"


def keys_in_words(keys: str) -> str:
    """Keys of Table 10 as text typed and keys pressed; keys that cannot be read stay as they are.

    >>> keys_in_words("^aVisitor{ENTER}{TAB 2}")
    'press Ctrl+A, type “Visitor”, press Enter, Tab, Tab'
    """
    try:
        pressed = runs(read_keys(keys))
    except KeysInvalidError:
        return f"type {keys}"
    parts: list[str] = []
    pressing = False
    for item in pressed:
        if isinstance(item, str):
            parts.append(f"type “{item}”")
        else:
            name = "+".join(part.capitalize() for part in (*item.modifiers, item.key))
            parts.append(name if pressing else f"press {name}")
        pressing = not isinstance(item, str)
    return ", ".join(parts) or "type nothing"


def _click(action: ClickInput) -> str:
    button = "" if action.button == "left" else f"{action.button} "
    return f"{'double-click' if action.double else 'click'} {button}".strip()
