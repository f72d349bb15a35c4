"""Actions as a person would say them."""

from __future__ import annotations

from taskgraph.interaction import ClickInput, DragInput, KeyboardInput, WaitInput, WheelMouseInput
from taskgraph.trajectory import TrajectoryStep


def in_words(step: TrajectoryStep) -> str:
    """What a step did: `click Button “Save”`, `type hello into Edit “Title”`."""
    target = f"{step.target.control_type} “{step.target.text}”".strip() if step.target else ""
    action = step.action
    if isinstance(action, KeyboardInput):
        return f"type {action.keys}" + (f" into {target}" if target else "")
    if isinstance(action, WaitInput):
        return f"wait {action.seconds:g} s"
    if isinstance(action, WheelMouseInput):
        way = "up" if action.wheel_distance > 0 else "down"
        return f"turn the wheel {way} by {abs(action.wheel_distance)}" + (f" over {target}" if target else "")
    if isinstance(action, DragInput):
        return f"drag in {target or f'control {action.control_label}'}"
    return f"{_click(action)} {target or f'control {action.control_label}'}"


def _click(action: ClickInput) -> str:
    button = "" if action.button == "left" else f"{action.button} "
    return f"{'double-click' if action.double else 'click'} {button}".strip()
