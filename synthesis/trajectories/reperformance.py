"""Performing a recorded trajectory again, each action grounded anew on the live controls (method section
8)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, Protocol

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
    """Do the steps of `trajectory` from `observation` on, without a reset; steps are numbered on from
    `history`.

    `slips` chooses where the player makes a harmless mistake and takes it back; by default it makes none.
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
"""Steps that a slip and taking it back add at most."""
_FIELD = "Edit"
_MENU = "MenuItem"
_MENU_BAR = "MenuBar"


class Player(Agent, Protocol):
    """An agent that knows what it will do next."""

    def upcoming(self, observation: Observation) -> tuple[Action, Control] | None:
        """The next action and its control, if it has one that is there."""
        ...


@dataclass(slots=True)
class SlippingAgent:
    """Lets `player` play, and slips once where that can do no harm; without such a place it makes no slip."""

    player: Player
    random: Random
    start: Evidence
    """State before the first step."""
    _phase: Literal["before", "slipped", "closing", "closing again", "over"] = "before"
    _wrong: Control | None = None
    _right: Control | None = None
    _seen: Observation | None = None
    _state: Evidence | None = None

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The player's decision, or a slip, or what takes it back."""
        if self._phase == "over":
            return await self.player.decide(instruction, observation, history)
        state = history[-1].evidence if history else self.start
        if self._phase == "before":
            slip = self._slip(observation, state)
            return slip or await self.player.decide(instruction, observation, history)
        harm = _harm(self._state, state)
        if harm or (history and history[-1].problem):
            return Decision(
                status="give_up", message=f"a slip was not harmless: {harm or history[-1].problem}"
            )
        if self._phase == "slipped" and self._is_field() and _same_screen(self._seen, observation):
            self._phase = "over"
            return await self._to_the_right_field(instruction, observation, history)
        if self._phase != "slipped" and _same_screen(self._seen, observation):
            self._phase = "over"
            return await self.player.decide(instruction, observation, history)
        return self._close(observation)

    def _slip(self, observation: Observation, state: Evidence) -> Decision | None:
        """A click on a neighbour of the control that comes next; None where there is none, or luck is against
        it."""
        upcoming = self.player.upcoming(observation)
        if upcoming is None or self.random.random() < 0.5:
            return None
        action, right = upcoming
        wrong = _neighbour(right, observation.controls)
        if wrong is None or not _is_plain(action):
            return None
        self._phase, self._wrong, self._right = "slipped", wrong, right
        self._seen, self._state = observation, state
        reason = "The text belongs into" if self._is_field() else "What I need should be in"
        return Decision(
            status="continue",
            thought=f"{reason} {_name(wrong)}, so I click it.",
            action=ClickInput(control_label=wrong.label),
            slip="slip",
        )

    def _is_field(self) -> bool:
        return self._wrong is not None and self._wrong.control_type == _FIELD

    async def _to_the_right_field(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        upcoming = self.player.upcoming(observation)
        if upcoming is None or self._wrong is None:
            return Decision(
                status="give_up", message="a slip could not be taken back: the right field is gone"
            )
        action, right = upcoming
        thought = (
            f"That was the wrong place: {_name(self._wrong)} has the focus now, but I need"
            f" {_name(right)}. I click that one instead."
        )
        if isinstance(action, ClickInput):
            decision = await self.player.decide(instruction, observation, history)
            return decision.model_copy(update={"thought": thought, "slip": "recovery"})
        click = ClickInput(control_label=right.label)
        return Decision(status="continue", thought=thought, action=click, slip="recovery")

    def _close(self, observation: Observation) -> Decision:
        """Close what the slip opened: with Escape, and if that did not do, by the control that opened it."""
        assert self._wrong is not None and self._right is not None
        wrong = _name(self._wrong)
        if self._phase == "slipped":
            self._phase = "closing"
            thought = (
                f"That was a mistake: this is {wrong}, and what I need is {_name(self._right)}."
                " I close it with Escape and go on where I was."
            )
            return Decision(
                status="continue", thought=thought, action=KeyboardInput(keys="{ESC}"), slip="recovery"
            )
        again = next((item for item in observation.controls if _key(item) == _key(self._wrong)), None)
        if self._phase == "closing again" or again is None:
            return Decision(status="give_up", message=f"a slip could not be taken back: {wrong} stays open")
        self._phase = "closing again"
        thought = f"{wrong[:1].upper()}{wrong[1:]} is still open, so I click it once more to close it."
        return Decision(
            status="continue", thought=thought, action=ClickInput(control_label=again.label), slip="recovery"
        )


def _name(control: Control) -> str:
    menu = control.control_type == _MENU and control.parent_type == _MENU_BAR
    return in_words("Menu" if menu else control.control_type, control.text)


def _is_plain(action: Action) -> bool:
    if isinstance(action, ClickInput):
        return action.button == "left" and action.times == 1 and not action.held
    return isinstance(action, KeyboardInput)


def _neighbour(right: Control, controls: Sequence[Control]) -> Control | None:
    """The nearest control that one might take for the right one and that a click on cannot harm: a field, or
    a menu of the bar."""
    if right.control_type == _MENU and right.parent_type != _MENU_BAR:
        return None
    if right.control_type not in (_FIELD, _MENU):
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
    return min(found, key=lambda item: _distance(item, right), default=None)


def _distance(one: Control, other: Control) -> int:
    (x, y), (a, b) = one.point, other.point
    return abs(x - a) + abs(y - b)


def _key(control: Control) -> tuple[str, str, str, str]:
    return control.control_type, control.text, control.row, control.application


def _same_screen(before: Observation | None, after: Observation) -> bool:
    """Whether the same controls are there as before, with the same contents; who has the focus does not
    count."""

    def shown(observation: Observation) -> Counter[tuple[object, ...]]:
        return Counter(
            (*_key(item), item.value, item.checked, item.disabled) for item in observation.controls
        )

    return (
        before is not None
        and (before.window_title, before.url, before.active_application)
        == (after.window_title, after.url, after.active_application)
        and shown(before) == shown(after)
    )


def _harm(before: Evidence | None, after: Evidence) -> str:
    if before is None:
        return "the state before it is unknown"
    old, new = ({item.path: item.sha256 for item in state.files} for state in (before, after))
    if old != new:
        return f"it changed {min(path for path in old | new if old.get(path) != new.get(path))}"
    if before.directories != after.directories:
        return "it changed folders"
    return "" if before.clipboard == after.clipboard else "it changed the clipboard"
