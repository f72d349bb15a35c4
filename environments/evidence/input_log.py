"""The inputs of an episode as evidence records them, the same way on every platform."""

from collections.abc import Sequence

from taskloom.taskgraph.records.evidence import InputEvent
from taskloom.taskgraph.records.grounding import describe_control
from taskloom.taskgraph.records.interaction import Action, Control


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
        """Add what `action` did to `target`, seen among `controls`, while `application` was in front."""
        query = describe_control(target, controls) if target is not None else None
        owner = target.application if target is not None and target.application else application
        self.events += tuple(
            InputEvent.model_validate(
                {"step": self.step, "kind": kind, "control": query, "application": owner, "text": text}
            )
            for kind, text in action.events()
        )


def under_pointer(controls: Sequence[Control], pointer: tuple[float, float]) -> str:
    """The text of the innermost control at `pointer`, or its value where it has no text."""
    for control in reversed(controls):
        if control.rectangle.contains(*pointer) and (control.text or control.value):
            return control.text or control.value
    return ""
