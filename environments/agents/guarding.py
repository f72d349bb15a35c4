"""What stands between the loop and an agent that may raise, answer nothing, block, or never answer. One of
the user's own lives in a thread with an event loop of its own, so that it holds up no other attempt, and is
shown no evidence, from which it could read what evaluation functions read; a thread that never answers is
left behind."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import re
import threading
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import cast

from pydantic import ValidationError

from taskloom.environments.agent import Decision
from taskloom.environments.agents.perceiving import Perception, perceive, pointed
from taskloom.environments.errors import AgentError, PictureUnreadableError, UnusableReplyError
from taskloom.resources.errors import TaskloomError
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Observation
from taskloom.taskgraph.records.trajectory import TrajectoryStep

_LIBRARY = re.compile(r"/lib/python3[^/]*/")


@dataclass(frozen=True, slots=True)
class Patience:
    """What is borne of an agent."""

    decision_seconds: float = 300.0
    """Longest time of one decision."""
    attempt_seconds: float = 3600.0
    """Longest time of all."""
    unusable_replies: int = 3
    """Unusable replies in a row that end the attempt."""
    refused_actions: int = 10
    """Actions in a row that cannot be carried out and end the attempt."""


@dataclass(slots=True)
class Decided:
    """One decision as it was taken."""

    step: int
    """Step of the recording that it became; for an end, the number that would have come next."""
    decision: Decision
    unusable: bool
    """Whether the reply was no decision."""
    seconds: float
    """Time that the agent took."""
    environment_seconds: float = 0.0
    """Time until it was asked again."""


@dataclass(slots=True)
class GuardedAgent:
    """An agent whose every fault has its own end. Satisfies `taskloom.environments.agent.Agent`."""

    make: Callable[[], object]
    """Makes the agent when it is first asked."""
    patience: Patience = Patience()
    apart: bool = False
    """Whether it is foreign code, which lives in a thread of its own and is shown no evidence."""
    perception: Perception | None = None
    """What it is shown beside the controls; None for nothing."""
    decided: list[Decided] = field(default_factory=list)
    """All decisions so far."""
    _agent: object = None
    _thread: _AgentThread | None = None
    _began: float | None = None
    _answered_at: float = 0.0
    _shown: list[TrajectoryStep] = field(default_factory=list)
    _unusable: int = 0

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The agent's decision, or a step that did nothing where the reply was none.

        Raises:
            AgentError: it says how the attempt ends.
            TaskloomError: what agents of our own raise when calls cannot go on at all.
        """
        if self._began is None:
            self._began = monotonic()
        seen = observation
        if self.perception is not None:
            try:
                seen = await asyncio.to_thread(perceive, observation, self.perception)
            except PictureUnreadableError as error:
                raise AgentError(str(error)) from error
        now = monotonic()
        self._note(now, len(history))
        self._refuse_too_many(history)
        left = self._began + self.patience.attempt_seconds - now
        if left <= 0:
            seconds = self.patience.attempt_seconds
            raise AgentError(f"The attempt took longer than {seconds:g} s.", "out_of_time")
        started, unusable = monotonic(), ""
        try:
            answer = await self._asked(min(left, self.patience.decision_seconds), instruction, seen, history)
            decision = pointed(_as_decision(answer), seen, observation)
            self._unusable = 0
        except UnusableReplyError as error:
            self._unusable += 1
            unusable = str(error)
            decision = Decision(status="continue", message=unusable, reply=error.reply)
        self._answered_at = monotonic()
        seconds = self._answered_at - started
        self.decided.append(Decided(len(history) + 1, decision, bool(unusable), seconds))
        if self._unusable >= self.patience.unusable_replies:
            message = f"{self._unusable} replies in a row are no action; the last: {unusable}"
            raise AgentError(message, "unusable_replies")
        return decision

    async def close(self) -> None:
        """Leave the agent's thread, if it has one."""
        self._note(monotonic(), None)
        if self._thread is not None:
            self._thread.leave()

    def _note(self, now: float, steps: int | None) -> None:
        """What followed the last decision: how long it took, and at which step it ended."""
        if self.decided and not self.decided[-1].environment_seconds:
            last = self.decided[-1]
            last.environment_seconds = max(now - self._answered_at, 1e-9)
            if steps is not None:
                last.step = steps

    def _refuse_too_many(self, history: Sequence[TrajectoryStep]) -> None:
        refused = 0
        own = {item.step for item in self.decided if item.unusable}
        for step in reversed(history):
            if step.step in own:
                continue
            if not step.problem:
                break
            refused += 1
        if refused >= self.patience.refused_actions:
            message = f"{refused} actions in a row could not be carried out; the last: {history[-1].problem}"
            raise AgentError(message, "refused_actions")

    async def _asked(
        self,
        seconds: float,
        instruction: str,
        observation: Observation,
        history: Sequence[TrajectoryStep],
    ) -> object:
        try:
            async with asyncio.timeout(seconds):
                if not self.apart:
                    return await cast(Awaitable[object], self._decide(instruction, observation, history))
                if self._thread is None:
                    self._thread = _AgentThread()
                shown = self._without_evidence(history)
                return await self._thread.do(lambda: self._decide(instruction, observation, shown))
        except TimeoutError as error:
            if _raised_within(error):
                raise _crash(error) from error
            raise AgentError(f"The agent did not decide within {seconds:g} s.", "out_of_time") from None
        except TaskloomError:
            raise
        except Exception as error:
            raise _crash(error) from error

    def _decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> object:
        """A decision, or what can be awaited for one; of foreign code, in its own thread."""
        if self._agent is None:
            self._agent = self.make()
        decide = getattr(self._agent, "decide", None)
        if not callable(decide):
            raise TypeError(f"the factory made a {type(self._agent).__name__}, which has no method `decide`")
        return decide(instruction, observation, history)

    def _without_evidence(self, history: Sequence[TrajectoryStep]) -> tuple[TrajectoryStep, ...]:
        for step in history[len(self._shown) :]:
            self._shown.append(step.model_copy(update={"evidence": Evidence(step=step.step)}))
        return tuple(self._shown)


class _AgentThread:
    """A thread with an event loop, which dies with the process whatever it does."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._run, name="agent", daemon=True).start()

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    async def do(self, work: Callable[[], object]) -> object:
        async def done() -> object:
            try:
                found = work()
                return await found if inspect.isawaitable(found) else found
            except AgentError:
                raise
            except BaseException as error:  # also what would end the thread, or the run
                if isinstance(error, asyncio.CancelledError) and _is_given_up():
                    raise
                raise _crash(error) from error

        running: concurrent.futures.Future[object] = asyncio.run_coroutine_threadsafe(done(), self._loop)
        return await asyncio.wrap_future(running)

    def leave(self) -> None:
        self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        for left in asyncio.all_tasks(self._loop):
            left.cancel()
        self._loop.call_soon(self._loop.stop)


def _is_given_up() -> bool:
    """Whether nobody waits for the work of this task any more."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _as_decision(answer: object) -> Decision:
    if isinstance(answer, Decision):
        return answer
    if isinstance(answer, Mapping):
        try:
            return Decision.model_validate(dict(answer))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise UnusableReplyError(
                f"The reply is no decision: {place}: {first['msg']}", repr(answer)
            ) from None
    raise UnusableReplyError(f"The reply is a {type(answer).__name__}, not a Decision.", repr(answer)[:2000])


def _raised_within(error: TimeoutError) -> bool:
    return not isinstance(error.__cause__, asyncio.CancelledError)


def _crash(error: BaseException) -> AgentError:
    """An exception in the agent's own code, with the last place outside of installed packages, if any."""
    places = traceback.extract_tb(error.__traceback__)
    own = [place for place in places if not place.filename.endswith("agents/guarding.py")]
    own = [place for place in own if not _LIBRARY.search(place.filename)] or own
    where = f" ({own[-1].filename.rpartition('/')[2]}, line {own[-1].lineno})" if own else ""
    return AgentError(f"{type(error).__name__}: {error}{where}", "agent_error")
