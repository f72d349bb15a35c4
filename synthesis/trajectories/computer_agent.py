"""An actor that operates the screen through its provider's computer tool, in one conversation per
performance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from taskloom.environments.agent import Decision
from taskloom.environments.errors import ActionInvalidError, AgentError
from taskloom.model_clients.errors import CallFailedError
from taskloom.prompts.inputs import ComputerActorInput
from taskloom.synthesis.ports import Models
from taskloom.synthesis.trajectories.briefing import Briefing
from taskloom.synthesis.trajectories.computer_actions import gesture_of, picture_and_scale
from taskloom.synthesis.trajectories.settled_ends import EndCheck
from taskloom.taskgraph.records.computer_use import (
    ComputerAction,
    ComputerCall,
    ComputerReply,
    ComputerResult,
    ComputerTurn,
)
from taskloom.taskgraph.records.gestures import Point, PointedGesture
from taskloom.taskgraph.records.interaction import Observation, Screenshot
from taskloom.taskgraph.records.trajectory import TrajectoryStep

SafetyPolicy = Literal["refuse", "acknowledge"]
"""What becomes of calls that the provider has doubts about."""

_STAGE = "trajectories"
_GIVES_UP = "GIVE_UP"
_MOST_LOOKS = 3
_SKIPPED = "An earlier action of the same call was refused, so this one was not carried out."


@dataclass(slots=True)
class ComputerAgent:
    """Asks for calls of the tool and carries out their actions one by one; satisfies
    `taskloom.environments.agent.Agent`.

    After a refused action the rest of its batch is left out, and the model sees why. A pending safety check
    ends the performance unless the policy is to acknowledge it.
    """

    models: Models
    """Models by role."""
    briefing: Briefing
    """What it is told of the performance."""
    safety: SafetyPolicy = "refuse"
    """What becomes of calls with pending safety checks."""
    _first: Screenshot | None = None
    _scale: float = 1.0
    _turns: list[ComputerTurn] = field(default_factory=list)
    _reply: ComputerReply | None = None
    _queue: list[tuple[str, ComputerAction]] = field(default_factory=list)
    _problems: dict[str, str] = field(default_factory=dict)
    _doing: str = ""
    _pointer: Point | None = None
    _end: EndCheck = field(default_factory=EndCheck)

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The next action of the model's calls, or of those that it makes when these are done.

        Raises:
            AgentError: the model refused or gave no usable reply.
            ModelClientError: calls cannot go on at all.
        """
        if self._first is None:
            self._end.begin(observation.controls)
            self._first, self._scale = picture_and_scale(observation.screenshot, observation.screen_size)
        if self._doing and history and history[-1].problem:
            self._refuse(self._doing, history[-1].problem)
        self._doing = ""
        for _ in range(_MOST_LOOKS):
            decision = self._next_action()
            if decision is not None:
                return decision
            refused = await self._next_reply(instruction, observation)
            if refused is not None:
                return refused
            assert self._reply is not None
            if not self._reply.calls:
                ended = self._ended(instruction, observation, history)
                if ended is not None:
                    return ended
        return self._next_action() or Decision(
            status="give_up", message="the model only looked at the screen, again and again"
        )

    def _next_action(self) -> Decision | None:
        """The first action of the queue that changes anything."""
        while self._queue:
            call_id, action = self._queue.pop(0)
            try:
                gesture = gesture_of(action, self._scale, self._pointer)
            except ActionInvalidError as error:
                self._refuse(call_id, str(error))
                continue
            if gesture is None:
                continue
            self._doing = call_id
            if isinstance(gesture, PointedGesture) and gesture.point is not None:
                self._pointer = gesture.point
            words = self._reply.text if self._reply is not None else ""
            return Decision(status="continue", thought=words, action=gesture)
        return None

    def _refuse(self, call_id: str, problem: str) -> None:
        """Note why an action was not carried out; the rest of the batch is left out."""
        self._problems[call_id] = problem
        for other, _ in self._queue:
            self._problems.setdefault(other, _SKIPPED)
        self._queue.clear()

    async def _next_reply(self, instruction: str, observation: Observation) -> Decision | None:
        """Send the results of the last calls and take in the next ones; a decision only where that ends the
        work."""
        assert self._first is not None
        if self._reply is not None:
            picture, _ = picture_and_scale(observation.screenshot, observation.screen_size)
            self._turns.append(
                ComputerTurn(
                    reply=self._reply,
                    results=tuple(self._result(call, picture) for call in self._reply.calls),
                )
            )
        told = self.briefing
        question = ComputerActorInput(
            application=told.application.name,
            title=told.application.title,
            manual=told.application.manual,
            instruction=instruction,
            feedback=(*told.feedback, *self._end.objections),
            step_limit=told.step_limit,
            screenshot=self._first,
            turns=tuple(self._turns),
        )
        try:
            self._reply = await self.models.ask(
                question, stage=_STAGE, item_id=told.item_id, attempt=told.attempt
            )
        except CallFailedError as error:
            raise AgentError(str(error)) from error
        self._problems = {}
        doubts = [check for call in self._reply.calls for check in call.safety_checks]
        if doubts and self.safety == "refuse":
            said = "; ".join(f"{check.code}: {check.message}".strip(": ") for check in doubts)
            return Decision(status="give_up", message=f"the provider asks to confirm a safety check: {said}")
        self._queue = [(call.call_id, action) for call in self._reply.calls for action in call.actions]
        return None

    def _result(self, call: ComputerCall, picture: Screenshot) -> ComputerResult:
        return ComputerResult(
            call_id=call.call_id,
            screenshot=picture,
            problem=self._problems.get(call.call_id, ""),
            acknowledged=call.safety_checks,
        )

    def _ended(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision | None:
        """How the model ended; None if it is asked to settle first what it left open."""
        assert self._reply is not None
        words = self._reply.text.strip()
        if words.startswith(_GIVES_UP):
            return Decision(status="give_up", message=words.removeprefix(_GIVES_UP).strip(" :\n"))
        if self._end.objects(instruction, observation.controls, history):
            self._turns, self._reply, self._pointer = [], None, None
            self._first, self._scale = picture_and_scale(observation.screenshot, observation.screen_size)
            return None
        return Decision(status="finish", thought=words)
