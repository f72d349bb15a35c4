"""Agents that repeat a recording or a worked example of the catalogue, each action grounded anew on the live
controls (method section 8). A busy page sets the focus late: keys pressed before that would go into the field
or document used before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taskloom.environments.agent import Decision
from taskloom.environments.starting_place import UNRESPONSIVE, WAIT_ON
from taskloom.resources.applications import WorkedStep
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.grounding import find_control, name_query
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
from taskloom.taskgraph.records.keys import read_keys
from taskloom.taskgraph.records.subtask import fill_step
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.taskgraph.text_folding import same_label

_FIELD = "Edit"
_TAB = "TabItem"
_KEYS_WITHOUT_FOCUS = frozenset({"escape", "f5", "f11"})
"""Keys whose effect does not depend on the focus."""


def marks_a_place(control: Control) -> bool:
    """Whether the control shows where keys go: it has the focus, or is the tab of the document in front."""
    return control.focused or (control.control_type == _TAB and bool(control.checked))


_MOST_LOOKS = 6
"""Maximum looks for a control that is not on the screen yet."""
_FIRST_WAIT_SECONDS = 0.25
_MOST_TURNS = 8
"""Turns of the wheel downwards to find a control that may be scrolled away; then twice as many upwards."""
_NOTCHES_PER_TURN = 5


@dataclass(slots=True)
class RecordedAgent:
    """An agent that repeats a trajectory: controls are found by text, type, parent, row and section, never by
    place; only the wheel is turned at its recorded place if its control is not found.

    Before it presses keys, the agent waits until the control that received them in the recording has the
    focus; before it finishes, until a window that the last step closed is gone. A shortcut that had opened a
    window and now does nothing is pressed once more. Steps that failed in the recording are skipped, and so
    are steps that only closed something that does not appear this time. For any other missing control the
    agent scrolls where the control was; then it gives up.
    """

    trajectory: Trajectory
    """The trajectory to repeat."""
    _steps: Sequence[TrajectoryStep] = ()
    _windows: Sequence[str] = ()
    """Titles of the window in front, at the start and after each step."""
    _next: int = 0
    _looks: int = 0
    _turns: int = 0
    _upwards: bool = False
    _window_at_shortcut: str | None = None
    """Title of the window in front when a shortcut was pressed that should open another window."""
    _controls_at_turn: tuple[Control, ...] = ()
    _dismissals: frozenset[int] | None = None

    def __post_init__(self) -> None:
        self._steps = [step for step in self.trajectory.steps if not step.problem]
        states = [self.trajectory.initial_evidence, *(step.evidence for step in self._steps)]
        self._windows = [state.window_title for state in states]

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The next recorded action, on the control with the recorded description."""
        if retry := self._retry_shortcut(observation):
            return retry
        if self._next >= len(self._steps):
            lingering = self._lingering_window(observation)
            if lingering and self._looks < _MOST_LOOKS:
                return self._wait(f"The window {lingering!r} is still in front, so I wait until it is gone.")
            return Decision(status="finish")
        step = self._steps[self._next]
        wait_label = _wait_button(observation)
        if wait_label and self._looks < _MOST_LOOKS:
            self._looks += 1
            thought = "The page does not answer, so I wait on."
            return Decision(status="continue", thought=thought, action=ClickInput(control_label=wait_label))
        if step.target is None or isinstance(step.action, WaitInput):
            return self._act_without_control(step, observation)
        control = find_control(step.target, observation.controls)
        end = find_control(step.end_target, observation.controls) if step.end_target else None
        if step.end_target is not None and end is None:
            control = None
        if control is None or (control.disabled and self._looks < _MOST_LOOKS):
            decision = self._handle_missing_control(step, observation)
            return decision or await self.decide(instruction, observation, history)
        self._advance()
        fields = {"control_label": control.label, "control_text": "", "point": None, "points": ()}
        if end is not None:
            fields["end_label"] = end.label
        update = {name: value for name, value in fields.items() if name in type(step.action).model_fields}
        return Decision(status="continue", thought=step.thought, action=step.action.model_copy(update=update))

    def _act_without_control(self, step: TrajectoryStep, observation: Observation) -> Decision:
        missing = self._missing_for_keys(step, observation)
        if missing and self._looks < _MOST_LOOKS:
            return self._wait(f"What is typed next would go astray, because {missing}, so I wait a moment.")
        keys = read_keys(step.action.keys) if isinstance(step.action, KeyboardInput) else None
        shortcuts = keys is not None and all(press.modifiers for press in keys)
        opened_a_window = self._windows[self._next] != self._windows[self._next + 1]
        self._advance()
        if shortcuts and opened_a_window:
            self._window_at_shortcut = observation.window_title
        if isinstance(step.action, ClickInput | DragInput):
            return self._give_up(step, "acted where there is no control, and a point alone is not repeated")
        return Decision(status="continue", thought=step.thought, action=step.action)

    def _handle_missing_control(self, step: TrajectoryStep, observation: Observation) -> Decision | None:
        """What to do while the next control is missing or disabled; None if its step is skipped."""
        assert step.target is not None
        target = find_control(step.target, observation.controls)
        missing = name_query(step.end_target if target is not None and step.end_target else step.target)
        if self._looks < _MOST_LOOKS:
            return self._wait(f"A {missing} is needed next and is not ready yet, so I wait a moment.")
        if self._may_skip(step, observation):
            self._advance()
            return None
        if (wheel := _wheel_where_recorded(step)) is not None:
            self._advance()
            return Decision(status="continue", thought=step.thought, action=wheel)
        if (wheel := self._scroll_towards(step, observation)) is not None:
            return Decision(status="continue", thought="It may have been scrolled away.", action=wheel)
        return self._give_up(step, f"needs a {missing}, which is not on the screen")

    def upcoming(self, observation: Observation) -> tuple[Action, Control] | None:
        """The next recorded action and its control; None if it needs no control or the control is missing."""
        step = self._steps[self._next] if self._next < len(self._steps) else None
        if step is None or step.target is None:
            return None
        control = find_control(step.target, observation.controls)
        return (step.action, control) if control is not None and not control.disabled else None

    def _advance(self) -> None:
        self._next += 1
        self._looks = self._turns = 0
        self._window_at_shortcut, self._controls_at_turn, self._upwards = None, (), False

    def _retry_shortcut(self, observation: Observation) -> Decision | None:
        """The last shortcut once more, if the window that it should open does not appear: a busy application
        may have missed it."""
        if observation.window_title != self._window_at_shortcut:
            return None
        if self._looks < _MOST_LOOKS:
            return self._wait("The keys have not brought up a window yet, so I wait a moment.")
        self._window_at_shortcut, self._looks = None, 0
        thought = "The keys did nothing, so I press them again."
        return Decision(status="continue", thought=thought, action=self._steps[self._next - 1].action)

    def _scroll_towards(self, step: TrajectoryStep, observation: Observation) -> Action | None:
        """A turn of the wheel where the control of `step` was: downwards as long as the controls change, then
        upwards."""
        if step.target_rectangle is None:
            return None
        limit = (3 if self._upwards else 1) * _MOST_TURNS
        if self._controls_at_turn == observation.controls or self._turns == limit:
            if self._upwards:
                return None
            self._upwards = True
        self._turns += 1
        self._controls_at_turn = observation.controls
        distance = _NOTCHES_PER_TURN if self._upwards else -_NOTCHES_PER_TURN
        return WheelMouseInput(wheel_distance=distance, point=_middle(step.target_rectangle))

    def _wait(self, thought: str) -> Decision:
        self._looks += 1
        wait = WaitInput(seconds=_FIRST_WAIT_SECONDS * self._looks)
        return Decision(status="continue", thought=thought, action=wait)

    def _may_skip(self, step: TrajectoryStep, observation: Observation) -> bool:
        """Whether the next step only closed something absent this time, and the step after it can be done."""
        if self._dismissals is None:
            self._dismissals = dismissals(self.trajectory)
        if step.step not in self._dismissals:
            return False
        following = self._steps[self._next + 1] if self._next + 1 < len(self._steps) else None
        if following is None or following.target is None:
            return True
        return find_control(following.target, observation.controls) is not None

    def _give_up(self, step: TrajectoryStep, reason: str) -> Decision:
        message = f"step {step.step} of trajectory {self.trajectory.trajectory_id} {reason}"
        return Decision(status="give_up", message=message)

    def _missing_for_keys(self, step: TrajectoryStep, now: Observation) -> str:
        """What is missing compared with the screen on which the keys of the next step were pressed, or empty.

        Compares the window that the previous step had closed; the control that had the focus, by type,
        text and kind of parent; whether a field that held something does so again; tabs that came to the
        front.
        """
        keys = read_keys(step.action.keys) if isinstance(step.action, KeyboardInput) else ()
        presses = [press for press in keys if press.key not in _KEYS_WITHOUT_FOCUS]
        if not presses:
            return ""
        if lingering := self._lingering_window(now):
            return f"the window {lingering!r} is still in front"
        recorded_focus = [control for control in step.observation_controls if control.focused]
        types_text = any(len(press.key) == 1 and not press.modifiers for press in presses)
        if not types_text and not any(control.control_type == _FIELD for control in recorded_focus):
            return ""
        earlier = self._steps[: max(self._next, 1)]
        return _missing_focus(recorded_focus, now) or _missing_tab(step, earlier, now)

    def _lingering_window(self, now: Observation) -> str:
        """The title of the window in front, if the previous step closed it in the recording; else empty."""
        closed = self._windows[self._next - 1] if self._next else ""
        return closed if closed != self._windows[self._next] and closed == now.window_title else ""

    @property
    def step_limit(self) -> int:
        """The most steps the agent can take, waiting included."""
        return (len(self.trajectory.steps) + 1) * (2 * (_MOST_LOOKS + 1) + 3 * _MOST_TURNS)


def _missing_focus(recorded: Sequence[Control], now: Observation) -> str:
    focused = [control for control in now.controls if control.focused]
    if recorded and not focused:
        return "nothing has the focus yet"
    for control in recorded:
        matching = [other for other in focused if _is_same_field(control, other)]
        if matching:
            empty = control.value.strip() and not any(other.value.strip() for other in matching)
            return "the field is still empty" if empty else ""
    return "the focus is still elsewhere" if recorded else ""


def _missing_tab(step: TrajectoryStep, earlier: Sequence[TrajectoryStep], now: Observation) -> str:
    """The first tab that came to the front for `step` and is not in front now, as a reason; else empty."""
    old = {text for other in earlier for text in _selected_tabs(other.observation_controls)}
    selected = _selected_tabs(now.controls)
    missing = [
        text
        for text in _selected_tabs(step.observation_controls) - old
        if not any(same_label(text, other) for other in selected)
    ]
    return f"the tab {min(missing)!r} is not in front yet" if missing else ""


def _is_same_field(one: Control, other: Control) -> bool:
    """Whether two controls are the same target of keys; their values may differ."""
    return (
        one.control_type == other.control_type
        and one.parent_type == other.parent_type
        and (one.text == other.text or same_label(one.text, other.text))
    )


def _selected_tabs(controls: Sequence[Control]) -> set[str]:
    return {control.text for control in controls if marks_a_place(control) and control.control_type == _TAB}


def dismissals(trajectory: Trajectory) -> frozenset[int]:
    """Numbers of the steps that clicked in a container and did nothing but close it.

    Everything else on the screen stayed, nothing was added, and files, folders and clipboard did not change.
    Such a container may be missing when the recording is repeated: an application shows a hint once.
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
        and _closed(step.observation_controls, after, (step.target.parent_type, step.target.parent_text))
        and _lasting_state(earlier) == _lasting_state(step.evidence)
    )


def _closed(before: tuple[Control, ...], after: tuple[Control, ...], container: tuple[str, str]) -> bool:
    """Whether exactly the controls of `container` are gone, and there were others."""
    staying = {
        _identity(control) for control in before if (control.parent_type, control.parent_text) != container
    }
    return 0 < len(staying) < len({_identity(control) for control in before}) and staying == {
        _identity(control) for control in after
    }


def _identity(control: Control) -> tuple[str, ...]:
    return (
        control.control_type,
        control.text,
        control.parent_type,
        control.parent_text,
        control.row,
        control.value,
    )


def _lasting_state(evidence: Evidence) -> tuple[object, ...]:
    return evidence.files, evidence.directories, evidence.clipboard


def _wheel_where_recorded(step: TrajectoryStep) -> Action | None:
    """The turn of the wheel at its recorded place, whichever control is there; None for other actions."""
    if not isinstance(step.action, WheelMouseInput) or step.target_rectangle is None:
        return None
    point = step.action.point or _middle(step.target_rectangle)
    aimed = {"control_label": "", "control_text": "", "position": None, "point": point}
    return step.action.model_copy(update=aimed)


def _middle(rectangle: tuple[int, int, int, int]) -> tuple[int, int]:
    left, top, right, bottom = rectangle
    return (left + right) // 2, (top + bottom) // 2


def _wait_button(observation: Observation) -> str:
    """Label of the button that waits for an unresponsive page; empty if there is none."""
    if observation.window_title != UNRESPONSIVE:
        return ""
    return next((item.label for item in observation.controls if item.text == WAIT_ON), "")


@dataclass(slots=True)
class WorkedExampleAgent:
    """Performs worked steps in order.

    The agent looks several times for a control that is missing or disabled; then it skips an optional step,
    and gives up at any other, naming the control.
    """

    steps: Sequence[WorkedStep]
    parameters: Mapping[str, str]
    """Values for the placeholders of the steps."""
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
            if missing and not step.optional and self._looks < _MOST_LOOKS:
                self._looks += 1
                wait = WaitInput(seconds=_FIRST_WAIT_SECONDS * self._looks)
                return Decision(status="continue", thought="The control is not there yet.", action=wait)
            self._looks = 0
            self._next += 1
            if step.control is not None and control is None:
                if step.optional:
                    continue
                name = f"{step.control.control_type or 'control'} {step.control.text!r}"
                return Decision(
                    status="give_up", message=f"step {self._next} needs a {name}, which is not on the screen"
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
