"""Guards the loop against agents that raise, reply nonsense, block, or never reply. A user's own agent runs
in a thread with its own event loop, so it holds up no other attempt. It is shown no evidence, because that
would reveal what evaluation functions read. A thread that never answers is abandoned."""

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
from taskloom.environments.agents.perceiving import Perception, perceive, replace_perceived_labels
from taskloom.environments.errors import AgentError, PictureUnreadableError, UnusableReplyError
from taskloom.resources.errors import TaskloomError
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Observation
from taskloom.taskgraph.records.trajectory import TrajectoryStep

_LIBRARY = re.compile(r"/lib/python3[^/]*/")


@dataclass(frozen=True, slots=True)
class Patience:
    """Limits on an agent."""

    decision_seconds: float = 300.0
    """Maximum time per decision."""
    attempt_seconds: float = 3600.0
    """Maximum time for the attempt."""
    unusable_replies: int = 3
    """Unusable replies in a row that end the attempt."""
    refused_actions: int = 10
    """Refused actions in a row that end the attempt."""


@dataclass(slots=True)
class Decided:
    """One decision of an agent, with its times."""

    step: int
    """Recorded step that it became; for a final decision, the number that would come next."""
    decision: Decision
    unusable: bool
    """Whether the reply was not a decision."""
    seconds: float
    """Time that the agent took."""
    environment_seconds: float = 0.0
    """Time until the agent was asked again."""


@dataclass(slots=True)
class GuardedAgent:
    """An agent whose faults each end the attempt in their own way; implements `environments.agent.Agent`."""

    make: Callable[[], object]
    """Makes the agent when it is first asked."""
    patience: Patience = Patience()
    apart: bool = False
    """Whether the agent is foreign code, which runs in its own thread and is shown no evidence."""
    perception: Perception | None = None
    """What it is shown besides the controls, if anything."""
    decided: list[Decided] = field(default_factory=list)
    """All decisions so far."""
    _agent: object = None
    _thread: _AgentThread | None = None
    _started_at: float | None = None
    _answered_at: float = 0.0
    _history: list[TrajectoryStep] = field(default_factory=list)
    _unusable_in_a_row: int = 0

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The agent's decision, or one that becomes a step without effect if the reply was unusable.

        Raises:
            AgentError: the attempt ends; the error says how.
            TaskloomError: an agent of our own can no longer make its calls.
        """
        if self._started_at is None:
            self._started_at = monotonic()
        perceived = observation
        if self.perception is not None:
            try:
                perceived = await asyncio.to_thread(perceive, observation, self.perception)
            except PictureUnreadableError as error:
                raise AgentError(str(error)) from error
        now = monotonic()
        self._complete_last_decision(now, len(history))
        self._check_refused_actions(history)
        remaining = self._started_at + self.patience.attempt_seconds - now
        if remaining <= 0:
            seconds = self.patience.attempt_seconds
            raise AgentError(f"The attempt took longer than {seconds:g} s.", "out_of_time")
        started, unusable = monotonic(), ""
        try:
            limit = min(remaining, self.patience.decision_seconds)
            reply = await self._ask(limit, instruction, perceived, history)
            decision = replace_perceived_labels(_as_decision(reply), perceived, observation)
            self._unusable_in_a_row = 0
        except UnusableReplyError as error:
            self._unusable_in_a_row += 1
            unusable = str(error)
            decision = Decision(status="continue", message=unusable, reply=error.reply)
        self._answered_at = monotonic()
        seconds = self._answered_at - started
        self.decided.append(Decided(len(history) + 1, decision, bool(unusable), seconds))
        if self._unusable_in_a_row >= self.patience.unusable_replies:
            message = f"{self._unusable_in_a_row} replies in a row were not actions; the last: {unusable}"
            raise AgentError(message, "unusable_replies")
        return decision

    async def close(self) -> None:
        """Abandon the agent's thread, if it has one."""
        self._complete_last_decision(monotonic(), None)
        if self._thread is not None:
            self._thread.abandon()

    def _complete_last_decision(self, now: float, steps: int | None) -> None:
        """Record how long the environment took after the last decision, and which step that became."""
        if self.decided and not self.decided[-1].environment_seconds:
            last = self.decided[-1]
            last.environment_seconds = max(now - self._answered_at, 1e-9)
            if steps is not None:
                last.step = steps

    def _check_refused_actions(self, history: Sequence[TrajectoryStep]) -> None:
        refused = 0
        unusable_steps = {item.step for item in self.decided if item.unusable}
        for step in reversed(history):
            if step.step in unusable_steps:
                continue
            if not step.problem:
                break
            refused += 1
        if refused >= self.patience.refused_actions:
            message = f"{refused} actions in a row could not be carried out; the last: {history[-1].problem}"
            raise AgentError(message, "refused_actions")

    async def _ask(
        self,
        seconds: float,
        instruction: str,
        observation: Observation,
        history: Sequence[TrajectoryStep],
    ) -> object:
        try:
            async with asyncio.timeout(seconds):
                if not self.apart:
                    return await cast(Awaitable[object], self._call_agent(instruction, observation, history))
                if self._thread is None:
                    self._thread = _AgentThread()
                stripped = self._without_evidence(history)
                return await self._thread.run(lambda: self._call_agent(instruction, observation, stripped))
        except TimeoutError as error:
            if _raised_by_agent(error):
                raise _crash(error) from error
            raise AgentError(f"The agent did not decide within {seconds:g} s.", "out_of_time") from None
        except TaskloomError:
            raise
        except Exception as error:
            raise _crash(error) from error

    def _call_agent(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> object:
        """A decision, or an awaitable of one; foreign code is called in its own thread."""
        if self._agent is None:
            self._agent = self.make()
        decide = getattr(self._agent, "decide", None)
        if not callable(decide):
            raise TypeError(f"the factory made a {type(self._agent).__name__}, which has no method `decide`")
        return decide(instruction, observation, history)

    def _without_evidence(self, history: Sequence[TrajectoryStep]) -> tuple[TrajectoryStep, ...]:
        for step in history[len(self._history) :]:
            self._history.append(step.model_copy(update={"evidence": Evidence(step=step.step)}))
        return tuple(self._history)


class _AgentThread:
    """A daemon thread with an event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._run_loop, name="agent", daemon=True).start()

    def _run_loop(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    async def run(self, work: Callable[[], object]) -> object:
        async def guarded() -> object:
            try:
                result = work()
                return await result if inspect.isawaitable(result) else result
            except AgentError:
                raise
            except BaseException as error:  # including those that would end the thread or the run
                if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                    raise
                raise _crash(error) from error

        running: concurrent.futures.Future[object] = asyncio.run_coroutine_threadsafe(guarded(), self._loop)
        return await asyncio.wrap_future(running)

    def abandon(self) -> None:
        self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.call_soon(self._loop.stop)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _as_decision(reply: object) -> Decision:
    if isinstance(reply, Decision):
        return reply
    if isinstance(reply, Mapping):
        try:
            return Decision.model_validate(dict(reply))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            location = ".".join(str(part) for part in first["loc"])
            raise UnusableReplyError(
                f"The reply is no decision: {location}: {first['msg']}", repr(reply)
            ) from None
    raise UnusableReplyError(f"The reply is a {type(reply).__name__}, not a Decision.", repr(reply)[:2000])


def _raised_by_agent(error: TimeoutError) -> bool:
    return not isinstance(error.__cause__, asyncio.CancelledError)


def _crash(error: BaseException) -> AgentError:
    """The error for an exception in the agent's code; names its last line outside installed packages."""
    stack = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in stack if not frame.filename.endswith("agents/guarding.py")]
    frames = [frame for frame in frames if not _LIBRARY.search(frame.filename)] or frames
    where = f" ({frames[-1].filename.rpartition('/')[2]}, line {frames[-1].lineno})" if frames else ""
    return AgentError(f"{type(error).__name__}: {error}{where}", "agent_error")
