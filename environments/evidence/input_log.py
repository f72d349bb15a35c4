"""The inputs of an episode as evidence records them, the same way on every platform."""

from __future__ import annotations

from collections.abc import Sequence

from environments.errors import ActionInvalidError
from environments.keys import parse_keys
from taskgraph.records.evidence import InputEvent
from taskgraph.records.grounding import describe_control
from taskgraph.records.interaction import (
    Action,
    ClickInput,
    Control,
    DragInput,
    KeyboardInput,
    WheelMouseInput,
)
from taskgraph.records.keys import KeyPress, runs


class InputLog:
    """Collects input events, oldest first."""

    def __init__(self) -> None:
        """Begin with no events."""
        self._events: list[InputEvent] = []
        self.step = 0

    @property
    def events(self) -> tuple[InputEvent, ...]:
        """All events so far."""
        return tuple(self._events)

    def clear(self) -> None:
        """Forget everything, as after a reset."""
        self._events.clear()
        self.step = 0

    def note(
        self, action: Action, target: Control | None, controls: Sequence[Control], application: str
    ) -> None:
        """Add what `action` did to `target`, seen among `controls`, while `application` was in front."""
        query = describe_control(target, controls) if target is not None else None
        owner = target.application if target is not None and target.application else application
        parts: list[tuple[str, str]] = []
        if isinstance(action, ClickInput):
            parts.append(("click", f"{action.button} double" if action.double else action.button))
        elif isinstance(action, KeyboardInput):
            for part in runs(parse_keys(action.keys)):
                parts.append(("key", part.chord) if isinstance(part, KeyPress) else ("text", part))
        elif isinstance(action, WheelMouseInput):
            parts.append(("wheel", str(action.wheel_distance)))
        elif isinstance(action, DragInput):
            parts.append(("drag", " ".join(f"{x:.3f},{y:.3f}" for x, y in action.path)))
        for kind, text in parts:
            self._events.append(
                InputEvent.model_validate(
                    {"step": self.step, "kind": kind, "control": query, "application": owner, "text": text}
                )
            )


def require_control(controls: Sequence[Control], label: str) -> Control:
    """The control with `label`.

    Raises:
        ActionInvalidError: there is none; the message names the labels there are.
    """
    found = next((control for control in controls if control.label == label), None)
    if found is None:
        span = f"{controls[0].label} to {controls[-1].label}" if controls else "none"
        raise ActionInvalidError(f"There is no control {label!r} on the screen now; its labels are {span}.")
    return found


def under_pointer(controls: Sequence[Control], pointer: tuple[float, float]) -> str:
    """The text of the innermost control at `pointer`, or its value where it has no text."""
    for control in reversed(controls):
        if control.rectangle.contains(*pointer) and (control.text or control.value):
            return control.text or control.value
    return ""
