"""An agent in one conversation with a model that operates the screen through its provider's computer tool."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from taskloom.environments.agent import Decision
from taskloom.environments.computer_use.action_queue import ActionQueue
from taskloom.environments.computer_use.actions import picture_and_scale, shown_part
from taskloom.taskgraph.records.computer_use import ComputerCall, ComputerReply, ComputerResult, ComputerTurn
from taskloom.taskgraph.records.interaction import Observation, Screenshot
from taskloom.taskgraph.records.trajectory import TrajectoryStep

SafetyPolicy = Literal["refuse", "acknowledge"]
"""What becomes of calls that the provider has doubts about."""
Ask = Callable[[str, Screenshot, tuple[ComputerTurn, ...]], Awaitable[ComputerReply]]
"""Asks the model: the instruction, the first picture, and what was done since."""
MayEnd = Callable[[str, Observation, Sequence[TrajectoryStep]], bool]
"""Whether the model may finish now; where it may not, a new conversation begins."""

_GIVES_UP = "GIVE_UP"
_MOST_LOOKS = 3


@dataclass(slots=True)
class ComputerConversation:
    """Asks for calls of the tool and carries out their actions one by one.

    After a refused action the rest of its batch is left out, and the model sees why. A pending safety check
    ends the work unless the policy is to acknowledge it.
    """

    ask: Ask
    safety: SafetyPolicy = "refuse"
    """What becomes of calls with pending safety checks."""
    may_end: MayEnd | None = None
    """Whether the model may finish; None for always."""
    _first: Screenshot | None = None
    _turns: list[ComputerTurn] = field(default_factory=list)
    _reply: ComputerReply | None = None
    _queue: ActionQueue = field(default_factory=ActionQueue)

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The next action of the model's calls, or of those that it makes when these are done."""
        if self._first is None:
            self._begin(observation)
        if history and history[-1].problem:
            self._queue.refuse(history[-1].problem)
        for _ in range(_MOST_LOOKS):
            decision = self._next_action()
            if decision is not None:
                return decision
            refused = await self._next_reply(instruction, observation)
            if refused is not None:
                return refused
            assert self._reply is not None
            if not self._reply.calls:
                if self.may_end is None or self.may_end(instruction, observation, history):
                    return self._ended(self._reply.text.strip())
                self._begin(observation)
        return self._next_action() or Decision(
            status="give_up", message="the model only looked at the screen, again and again"
        )

    def _begin(self, observation: Observation) -> None:
        self._turns, self._reply = [], None
        self._first, scale = picture_and_scale(observation.screenshot, observation.screen_size)
        self._queue = ActionQueue(scale)

    def _next_action(self) -> Decision | None:
        gesture = self._queue.next_gesture()
        if gesture is None:
            return None
        words = self._reply.text if self._reply is not None else ""
        return Decision(status="continue", thought=words, action=gesture)

    async def _next_reply(self, instruction: str, observation: Observation) -> Decision | None:
        """Send the results of the last calls, take in the next ones; a decision where that ends the work."""
        assert self._first is not None
        if self._reply is not None:
            picture, _ = picture_and_scale(observation.screenshot, observation.screen_size)
            results = tuple(self._result(call, picture) for call in self._reply.calls)
            self._turns.append(ComputerTurn(reply=self._reply, results=results))
        self._reply = await self.ask(instruction, self._first, tuple(self._turns))
        doubts = [check for call in self._reply.calls for check in call.safety_checks]
        if doubts and self.safety == "refuse":
            said = "; ".join(f"{check.code}: {check.message}".strip(": ") for check in doubts)
            return Decision(status="give_up", message=f"the provider asks to confirm a safety check: {said}")
        self._queue.fill((call.call_id, action) for call in self._reply.calls for action in call.actions)
        return None

    def _result(self, call: ComputerCall, picture: Screenshot) -> ComputerResult:
        zoomed = next((action.path for action in call.actions if action.kind == "zoom"), ())
        return ComputerResult(
            call_id=call.call_id,
            screenshot=shown_part(picture, zoomed) if zoomed else picture,
            problem=self._queue.problems.get(call.call_id, ""),
            acknowledged=call.safety_checks,
        )

    def _ended(self, words: str) -> Decision:
        """How the model ended: giving up, or with what it says beside `DONE`."""
        if words.startswith(_GIVES_UP):
            return Decision(status="give_up", message=words.removeprefix(_GIVES_UP).strip(" :\n"))
        return Decision(status="finish", thought=words)
