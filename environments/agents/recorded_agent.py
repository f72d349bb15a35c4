"""An agent that repeats a recording, each action grounded anew on the live controls (method section 8)."""

from collections.abc import Sequence
from dataclasses import dataclass

from taskloom.environments.agent import Decision
from taskloom.environments.agents.typing_places import brought_a_window, what_is_missing, window_left
from taskloom.environments.starting_place import UNRESPONSIVE, WAIT_ON
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.grounding import find_control, name_query
from taskloom.taskgraph.records.interaction import (
    Action,
    ClickInput,
    Control,
    DragInput,
    Observation,
    WaitInput,
    WheelMouseInput,
)
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep

_PATIENCE = 6
"""Looks at the screen for a control that is not there yet."""
_FIRST_WAIT_SECONDS = 0.25
_TURNS = 8
"""Turns of the wheel downwards for a control that may have been scrolled away; then twice as many upwards."""
_NOTCHES = 5


@dataclass(slots=True)
class RecordedAgent:
    """An agent that does what a trajectory recorded: the control is found by text, type, parent, row
    and section, never by place; only the wheel is turned where it was if the control is another this time.

    Keys wait until the place that they went to when they were recorded has the focus, and the end until a
    window that the last step closed is gone. A shortcut that had brought up a window and now does nothing is
    pressed once more. Steps that failed when they were recorded are left out, and those that only closed what
    does not turn up this time. Another control that does not turn up is scrolled for where it was; then the
    agent gives up.
    """

    trajectory: Trajectory
    """What to do."""
    _next: int = 0
    _looks: int = 0
    _turns: int = 0
    _upwards: bool = False
    _pressed_at: str | None = None
    """The window in front when a shortcut was pressed that is to bring up another one."""
    _seen: tuple[Control, ...] = ()
    _dismissals: frozenset[int] | None = None

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The next recorded action on the control of the same description."""
        steps = [step for step in self.trajectory.steps if not step.problem]
        start = self.trajectory.initial_evidence
        if again := self._again(steps, observation):
            return again
        if self._next >= len(steps):
            left = window_left(steps, len(steps), observation, start)
            if left and self._looks < _PATIENCE:
                return self._wait(f"The window {left!r} is still in front, so I wait until it is gone.")
            return Decision(status="finish")
        step = steps[self._next]
        waits = _waits_on(observation)
        if waits and self._looks < _PATIENCE:
            self._looks += 1
            thought = "The page does not answer, so I wait on."
            return Decision(status="continue", thought=thought, action=ClickInput(control_label=waits))
        if step.target is None or isinstance(step.action, WaitInput):
            missing = what_is_missing(steps, self._next, observation, start)
            if missing and self._looks < _PATIENCE:
                return self._wait(
                    f"What is typed next would go astray, because {missing}, so I wait a moment."
                )
            self._go_on()
            if brought_a_window(steps, self._next - 1, start):
                self._pressed_at = observation.window_title
            if isinstance(step.action, ClickInput | DragInput):
                return self._give_up(
                    step, "was made where no control is, and a place alone is not done again"
                )
            return Decision(status="continue", thought=step.thought, action=step.action)
        control = find_control(step.target, observation.controls)
        end = find_control(step.end_target, observation.controls) if step.end_target else None
        if step.end_target is not None and end is None:
            control = None
        if control is None or (control.disabled and self._looks < _PATIENCE):
            done = self._while_missing(steps, observation)
            return done or await self.decide(instruction, observation, history)
        self._go_on()
        aimed_anew: dict[str, object] = {
            "control_label": control.label,
            "control_text": "",
            "point": None,
            "points": (),
        }
        if end is not None:
            aimed_anew["end_label"] = end.label
        known = {name: value for name, value in aimed_anew.items() if name in type(step.action).model_fields}
        return Decision(status="continue", thought=step.thought, action=step.action.model_copy(update=known))

    def _while_missing(self, steps: Sequence[TrajectoryStep], observation: Observation) -> Decision | None:
        """What to do while the next control is missing or disabled; None where its step is skipped."""
        step = steps[self._next]
        if self._looks < _PATIENCE:
            missing = self._missing(step, observation)
            return self._wait(f"A {missing} is needed next and is not ready yet, so I wait a moment.")
        if self._may_skip(steps, observation):
            self._go_on()
            return None
        if (turned := _turned_there(step)) is not None:
            self._go_on()
            return Decision(status="continue", thought=step.thought, action=turned)
        if (turned := self._scrolled(step, observation)) is not None:
            return Decision(status="continue", thought="It may have been scrolled away.", action=turned)
        return self._give_up(step, f"needs a {self._missing(step, observation)}, which is not on the screen")

    def upcoming(self, observation: Observation) -> tuple[Action, Control] | None:
        """The next recorded action and the control that it needs; None where it needs or finds none."""
        steps = [step for step in self.trajectory.steps if not step.problem]
        if self._next >= len(steps) or steps[self._next].target is None:
            return None
        step = steps[self._next]
        control = find_control(step.target, observation.controls) if step.target else None
        return (step.action, control) if control is not None and not control.disabled else None

    def _go_on(self) -> None:
        self._next += 1
        self._looks = self._turns = 0
        self._pressed_at, self._seen, self._upwards = None, (), False

    def _again(self, steps: Sequence[TrajectoryStep], observation: Observation) -> Decision | None:
        """The shortcut before once more, if the window that it had brought up does not come: an application
        that was still at work did not take it."""
        if observation.window_title != self._pressed_at:
            return None
        if self._looks < _PATIENCE:
            return self._wait("The keys have not brought up a window yet, so I wait a moment.")
        self._pressed_at, self._looks = None, 0
        thought = "The keys did nothing, so I press them again."
        return Decision(status="continue", thought=thought, action=steps[self._next - 1].action)

    def _scrolled(self, step: TrajectoryStep, observation: Observation) -> Action | None:
        """A turn of the wheel where the control of `step` was: downwards as long as that shows something
        else, then upwards."""
        if step.target_rectangle is None:
            return None
        if self._seen == observation.controls or self._turns == (3 if self._upwards else 1) * _TURNS:
            if self._upwards:
                return None
            self._upwards = True
        self._turns += 1
        self._seen = observation.controls
        distance = _NOTCHES if self._upwards else -_NOTCHES
        return WheelMouseInput(wheel_distance=distance, point=_middle(step.target_rectangle))

    def _wait(self, thought: str) -> Decision:
        self._looks += 1
        wait = WaitInput(seconds=_FIRST_WAIT_SECONDS * self._looks)
        return Decision(status="continue", thought=thought, action=wait)

    def _may_skip(self, steps: Sequence[TrajectoryStep], observation: Observation) -> bool:
        """Whether the next step only closed what is not here this time, and the one behind it can be done."""
        if self._dismissals is None:
            self._dismissals = dismissals(self.trajectory)
        if steps[self._next].step not in self._dismissals:
            return False
        following = steps[self._next + 1] if self._next + 1 < len(steps) else None
        if following is None or following.target is None:
            return True
        return find_control(following.target, observation.controls) is not None

    def _give_up(self, step: TrajectoryStep, reason: str) -> Decision:
        message = f"step {step.step} of trajectory {self.trajectory.trajectory_id} {reason}"
        return Decision(status="give_up", message=message)

    def _missing(self, step: TrajectoryStep, observation: Observation) -> str:
        assert step.target is not None
        there = find_control(step.target, observation.controls)
        return name_query(step.end_target if there is not None and step.end_target else step.target)

    @property
    def step_limit(self) -> int:
        """Steps it can take at most, waiting included."""
        return (len(self.trajectory.steps) + 1) * (2 * (_PATIENCE + 1) + 3 * _TURNS)


def dismissals(trajectory: Trajectory) -> frozenset[int]:
    """Numbers of the steps that clicked in a container and did nothing but take that container away.

    Everything else on the screen stayed, nothing came, and files, folders and clipboard are as before. Such a
    container may be missing when the recording is performed again: an application shows a hint once.
    """
    steps = trajectory.steps
    shown = [step.observation_controls for step in steps[1:]] + [trajectory.final_evidence.controls]
    before = [trajectory.initial_evidence, *(step.evidence for step in steps)]
    return frozenset(
        step.step
        for step, after, earlier in zip(steps, shown, before, strict=False)
        if step.target is not None
        and not step.problem
        and isinstance(step.action, ClickInput)
        and _took_away(step.observation_controls, after, (step.target.parent_type, step.target.parent_text))
        and _state(earlier) == _state(step.evidence)
    )


def _took_away(before: tuple[Control, ...], after: tuple[Control, ...], container: tuple[str, str]) -> bool:
    """Whether exactly the controls of `container` are gone, and there were others."""
    staying = {
        _named(control) for control in before if (control.parent_type, control.parent_text) != container
    }
    return 0 < len(staying) < len({_named(control) for control in before}) and staying == {
        _named(control) for control in after
    }


def _named(control: Control) -> tuple[str, ...]:
    return (
        control.control_type,
        control.text,
        control.parent_type,
        control.parent_text,
        control.row,
        control.value,
    )


def _state(evidence: Evidence) -> tuple[object, ...]:
    return evidence.files, evidence.directories, evidence.clipboard


def _turned_there(step: TrajectoryStep) -> Action | None:
    """A turn of the wheel where it was recorded, whichever control lies there; None for another action."""
    if not isinstance(step.action, WheelMouseInput) or step.target_rectangle is None:
        return None
    point = step.action.point or _middle(step.target_rectangle)
    aimed = {"control_label": "", "control_text": "", "position": None, "point": point}
    return step.action.model_copy(update=aimed)


def _middle(rectangle: tuple[int, int, int, int]) -> tuple[int, int]:
    left, top, right, bottom = rectangle
    return (left + right) // 2, (top + bottom) // 2


def _waits_on(observation: Observation) -> str:
    """Label of the button that waits for a page that does not answer; empty where all pages do."""
    if observation.window_title != UNRESPONSIVE:
        return ""
    return next((item.label for item in observation.controls if item.text == WAIT_ON), "")
