"""Performing a recorded trajectory again, each action grounded in the live controls (method section 8)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, NamedTuple, Protocol

from taskloom.environments.agent import Agent, Decision
from taskloom.environments.agents.recorded_agent import RecordedAgent
from taskloom.environments.environment import Environment
from taskloom.environments.episode import Recording, record_steps
from taskloom.environments.screen_words import in_words
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Action, ClickInput, Control, KeyboardInput, Observation
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep


async def perform_again(
    environment: Environment,
    trajectory: Trajectory,
    observation: Observation,
    *,
    history: Sequence[TrajectoryStep] = (),
    slips: Random | None = None,
) -> Recording:
    """Perform the steps of `trajectory` from `observation`, without a reset; steps are numbered on from
    `history`.

    `slips` chooses where the player makes a harmless mistake and takes it back; without it there is none.
    """
    recorded = RecordedAgent(trajectory)
    agent: Agent = recorded
    if slips is not None:
        agent = SlippingAgent(recorded, slips, await environment.evidence())
    return await record_steps(
        environment,
        agent,
        trajectory.instruction,
        observation,
        step_limit=recorded.step_limit + MOST_SLIP_STEPS,
        history=history,
    )


MOST_SLIP_STEPS = 4
"""Maximum steps a slip and its recovery add."""
_FIELD = "Edit"
_MENU = "MenuItem"
_MENU_BAR = "MenuBar"


class Player(Agent, Protocol):
    """An agent that knows what it will do next."""

    def upcoming(self, observation: Observation) -> tuple[Action, Control] | None:
        """The next action and its control, if it has one that is on the screen."""
        ...


class _Slip(NamedTuple):
    wrong: Control
    right: Control
    screen: Observation
    """The screen before the slip."""
    state: Evidence
    """The state before the slip."""

    @property
    def is_in_field(self) -> bool:
        return self.wrong.control_type == _FIELD


@dataclass(slots=True)
class SlippingAgent:
    """Lets `player` play, and makes one slip where it can do no harm, if there is such an occasion."""

    player: Player
    random: Random
    start: Evidence
    """The state before the first step."""
    _slip: _Slip | None = None
    _phase: Literal["slipped", "closing", "closing again", "over"] = "slipped"

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The player's decision, or a slip, or a step that takes it back."""
        slip = self._slip
        state = history[-1].evidence if history else self.start
        if slip is None:
            decision = self._make_slip(observation, state)
            return decision or await self.player.decide(instruction, observation, history)
        if self._phase == "over":
            return await self.player.decide(instruction, observation, history)
        harm = _harm(slip.state, state) or (history[-1].problem if history else "")
        if harm:
            return _give_up(f"a slip was not harmless: {harm}")
        nothing_opened = self._phase == "slipped" and slip.is_in_field
        is_closed = nothing_opened or self._phase != "slipped"
        if not (is_closed and _same_screen(slip.screen, observation)):
            return self._close(slip, observation)
        self._phase = "over"
        if nothing_opened:
            return await self._to_the_right_field(slip, instruction, observation, history)
        return await self.player.decide(instruction, observation, history)

    def _make_slip(self, observation: Observation, state: Evidence) -> Decision | None:
        """A click on a neighbour of the next action's control; None if there is none, or by chance."""
        upcoming = self.player.upcoming(observation)
        if upcoming is None or self.random.random() < 0.5:
            return None
        action, right = upcoming
        wrong = _neighbour(right, observation.controls)
        if wrong is None or not _is_plain(action):
            return None
        self._slip = _Slip(wrong, right, observation, state)
        reason = "The text belongs into" if self._slip.is_in_field else "What I need should be in"
        return Decision(
            status="continue",
            thought=f"{reason} {_name(wrong)}, so I click it.",
            action=ClickInput(control_label=wrong.label),
            slip="slip",
        )

    async def _to_the_right_field(
        self, slip: _Slip, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        upcoming = self.player.upcoming(observation)
        if upcoming is None:
            return _give_up("a slip could not be taken back: the right field is gone")
        action, right = upcoming
        thought = (
            f"That was the wrong place: {_name(slip.wrong)} has the focus now, but I need"
            f" {_name(right)}. I click that one instead."
        )
        if isinstance(action, ClickInput):
            decision = await self.player.decide(instruction, observation, history)
            return decision.model_copy(update={"thought": thought, "slip": "recovery"})
        return _recovery(thought, ClickInput(control_label=right.label))

    def _close(self, slip: _Slip, observation: Observation) -> Decision:
        """Close what the slip opened: with Escape, and if that fails, with the control that opened it."""
        wrong = _name(slip.wrong)
        if self._phase == "slipped":
            self._phase = "closing"
            thought = (
                f"That was a mistake: this is {wrong}, and what I need is {_name(slip.right)}."
                " I close it with Escape and go on where I was."
            )
            return _recovery(thought, KeyboardInput(keys="{ESC}"))
        again = next((item for item in observation.controls if _key(item) == _key(slip.wrong)), None)
        if self._phase == "closing again" or again is None:
            return _give_up(f"a slip could not be taken back: {wrong} stays open")
        self._phase = "closing again"
        thought = f"{wrong[:1].upper()}{wrong[1:]} is still open, so I click it once more to close it."
        return _recovery(thought, ClickInput(control_label=again.label))


def _recovery(thought: str, action: Action) -> Decision:
    return Decision(status="continue", thought=thought, action=action, slip="recovery")


def _give_up(message: str) -> Decision:
    return Decision(status="give_up", message=message)


def _name(control: Control) -> str:
    menu = control.control_type == _MENU and control.parent_type == _MENU_BAR
    return in_words("Menu" if menu else control.control_type, control.text)


def _is_plain(action: Action) -> bool:
    if isinstance(action, ClickInput):
        return action.button == "left" and action.times == 1 and not action.held
    return isinstance(action, KeyboardInput)


def _neighbour(right: Control, controls: Sequence[Control]) -> Control | None:
    """The nearest other field, or menu of the bar, to mistake for `right`; clicking it is harmless."""
    in_bar = right.control_type == _MENU and right.parent_type == _MENU_BAR
    if not in_bar and right.control_type != _FIELD:
        return None
    found = [
        item
        for item in controls
        if item.control_type == right.control_type
        and item.application == right.application
        and (item.control_type == _FIELD or item.parent_type == _MENU_BAR)
        and item.text
        and not (item.disabled or item.focused)
        and _key(item) != _key(right)
        and item.rectangle != right.rectangle
    ]
    x, y = right.point
    return min(found, key=lambda item: abs(item.point[0] - x) + abs(item.point[1] - y), default=None)


def _key(control: Control) -> tuple[str, str, str, str]:
    return control.control_type, control.text, control.row, control.application


def _same_screen(before: Observation, after: Observation) -> bool:
    """Whether the same controls are there with the same contents; the focus does not count."""

    def shown(observation: Observation) -> Counter[tuple[object, ...]]:
        return Counter(
            (*_key(item), item.value, item.checked, item.disabled) for item in observation.controls
        )

    places = [(item.window_title, item.url, item.active_application) for item in (before, after)]
    return places[0] == places[1] and shown(before) == shown(after)


def _harm(before: Evidence, after: Evidence) -> str:
    old, new = ({item.path: item.sha256 for item in state.files} for state in (before, after))
    if old != new:
        return f"it changed {min(path for path in old | new if old.get(path) != new.get(path))}"
    if before.directories != after.directories:
        return "it changed folders"
    return "" if before.clipboard == after.clipboard else "it changed the clipboard"
