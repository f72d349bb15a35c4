"""An agent that follows a worked example of the catalogue, grounding every step on the live controls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taskloom.environments.agent import Decision
from taskloom.resources.applications import WorkedStep
from taskloom.taskgraph.records.grounding import find_control
from taskloom.taskgraph.records.interaction import (
    Action,
    ClickInput,
    Control,
    DragInput,
    KeyboardInput,
    Observation,
    WaitInput,
    WheelMouseInput,
)
from taskloom.taskgraph.records.subtask import fill_step
from taskloom.taskgraph.records.trajectory import TrajectoryStep

_PATIENCE = 6
"""Looks at the screen for a control that is not there yet."""
_FIRST_WAIT_SECONDS = 0.25


@dataclass(slots=True)
class WorkedExampleAgent:
    """Performs worked steps in order.

    A control that is not there, or is disabled, is waited for a few looks; then an optional step is passed
    over and any other makes the agent give up, naming the control.
    """

    steps: Sequence[WorkedStep]
    parameters: Mapping[str, str]
    """Values for its placeholders."""
    _next: int = 0
    _looks: int = 0

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The next worked step on the control it names."""
        while self._next < len(self.steps):
            step = fill_step(self.steps[self._next], self.parameters)
            control = find_control(step.control, observation.controls) if step.control else None
            missing = step.control is not None and (control is None or control.disabled)
            if missing and not step.optional and self._looks < _PATIENCE:
                self._looks += 1
                wait = WaitInput(seconds=_FIRST_WAIT_SECONDS * self._looks)
                return Decision(status="continue", thought="The control is not there yet.", action=wait)
            self._looks = 0
            self._next += 1
            if step.control is not None and control is None:
                if step.optional:
                    continue
                named = f"{step.control.control_type or 'control'} {step.control.text!r}"
                return Decision(
                    status="give_up", message=f"step {self._next} needs a {named}, which is not on the screen"
                )
            return Decision(status="continue", thought=step.thought, action=_action_of(step, control))
        return Decision(status="finish")


def _action_of(step: WorkedStep, control: Control | None) -> Action:
    label = control.label if control is not None else ""
    match step.operation:
        case "keyboard_input":
            return KeyboardInput(control_label=label, keys=step.keys)
        case "wheel_mouse_input":
            return WheelMouseInput(control_label=label, wheel_distance=step.wheel_distance)
        case "wait":
            return WaitInput(seconds=step.seconds)
        case _ if control is None:
            raise ValueError(f"A step of the operation {step.operation!r} needs a control.")
        case "drag_input":
            return DragInput(control_label=label, path=step.path)
        case _:
            position = step.path[0] if step.path else None
            return ClickInput(control_label=label, button=step.button, double=step.double, position=position)
