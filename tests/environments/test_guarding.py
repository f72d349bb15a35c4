"""Agents that misbehave: each fault has its own end, and nobody else waits."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from taskloom.environments.agent import Decision
from taskloom.environments.agents.guarding import GuardedAgent, Patience
from taskloom.environments.errors import AgentError, UnusableReplyError
from taskloom.taskgraph.records.evidence import Evidence, FileState
from taskloom.taskgraph.records.interaction import Observation, Screenshot, WaitInput
from taskloom.taskgraph.records.trajectory import TrajectoryStep

SCREEN = Screenshot.of(b"picture")
OBSERVATION = Observation(screenshot=SCREEN, controls=())
SECRET = Evidence(step=1, files=(FileState(path="answer.txt", size=1, sha256="0", text="42"),))


def step(number: int, problem: str = "") -> TrajectoryStep:
    return TrajectoryStep(
        step=number,
        observation_screenshot=SCREEN,
        action=WaitInput(seconds=0),
        problem=problem,
        evidence=SECRET,
    )


def agent_of(decide: Any, **patience: Any) -> GuardedAgent:
    class Made:
        pass

    made = Made()
    made.decide = decide  # type: ignore[attr-defined]
    return GuardedAgent(lambda: made, Patience(**patience), apart=True)


async def asked(agent: GuardedAgent, history: Sequence[TrajectoryStep] = ()) -> Decision:
    try:
        return await agent.decide("Do it.", OBSERVATION, history)
    finally:
        await agent.close()


@contextlib.contextmanager
def ends_as(termination: str, match: str) -> Iterator[None]:
    with pytest.raises(AgentError, match=match) as caught:
        yield
    assert caught.value.termination == termination


async def test_an_exception_in_the_agent_is_its_own_end() -> None:
    def decide(*_: object) -> None:
        raise ValueError("could not parse")

    with ends_as("agent_error", r"ValueError: could not parse \(test_guarding.py, line"):
        await asked(agent_of(decide))


class Panics(BaseException):
    """What some libraries raise that no `except Exception` is to catch."""


@pytest.mark.parametrize(
    "error",
    [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), GeneratorExit(), Panics(), TimeoutError()],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("waits", [False, True])
async def test_whatever_an_agent_raises_ends_its_attempt_alone(error: BaseException, waits: bool) -> None:
    def decide(*_: object) -> None:
        raise error

    async def decide_later(*_: object) -> None:
        await asyncio.sleep(0)
        raise error

    name = type(error).__name__
    with ends_as("agent_error", rf"{name}: .*\(test_guarding.py, line"):
        await asked(agent_of(decide_later if waits else decide))


async def test_the_place_of_an_exception_is_the_agents_not_that_of_a_library() -> None:
    def decide(*_: object) -> None:
        Decision.model_validate({"status": "FINISH"})

    with ends_as("agent_error", r"\(test_guarding.py, line \d+\)$"):
        await asked(agent_of(decide))


async def test_a_timeout_that_the_agent_raises_itself_is_a_crash() -> None:
    async def decide(*_: object) -> None:
        raise TimeoutError("my server")

    with ends_as("agent_error", "my server"):
        await asked(agent_of(decide))


@pytest.mark.parametrize("blocks", [False, True])
async def test_an_agent_that_never_answers_is_left(blocks: bool) -> None:
    others_went_on = threading.Event()

    async def decide(*_: object) -> None:
        if blocks:
            others_went_on.wait()
        await asyncio.sleep(1000)

    asyncio.get_running_loop().call_later(0.01, others_went_on.set)
    with ends_as("out_of_time", r"within 0\.2 s"):
        await asked(agent_of(decide, decision_seconds=0.2))


async def test_an_attempt_has_a_time_of_its_own() -> None:
    agent = agent_of(lambda *_: Decision(status="continue"), attempt_seconds=0.05)
    await agent.decide("Do it.", OBSERVATION, ())
    await asyncio.sleep(0.06)
    with ends_as("out_of_time", "longer than"):
        await asked(agent)


async def test_replies_that_are_no_decision_are_told_and_end_the_attempt_when_they_repeat() -> None:
    agent = agent_of(lambda *_: None, unusable_replies=3)
    first = await agent.decide("Do it.", OBSERVATION, ())
    assert (first.status, first.action) == ("continue", None)
    assert "NoneType, not a Decision" in first.message
    await agent.decide("Do it.", OBSERVATION, [step(1, first.message)])
    with ends_as("unusable_replies", "3 replies in a row"):
        await asked(agent, [step(1, first.message), step(2, first.message)])
    assert [(item.step, item.unusable) for item in agent.decided] == [(1, True), (2, True), (3, True)]


async def test_an_agent_may_say_itself_that_its_reply_is_unusable() -> None:
    def decide(*_: object) -> None:
        raise UnusableReplyError("no tool call", reply="<tool_cal>")

    decision = await asked(agent_of(decide))
    assert (decision.message, decision.reply) == ("no tool call", "<tool_cal>")


async def test_a_mapping_is_a_decision_if_it_reads_as_one() -> None:
    assert (await asked(agent_of(lambda *_: {"status": "finish", "answer": "3"}))).answer == "3"
    assert "no decision: status" in (await asked(agent_of(lambda *_: {"status": "done"}))).message


async def test_many_actions_in_a_row_that_cannot_be_done_end_the_attempt() -> None:
    agent = agent_of(lambda *_: Decision(status="finish"), refused_actions=2)
    history = [step(1, "outside"), step(2), step(3, "outside")]
    assert (await agent.decide("Do it.", OBSERVATION, history)).status == "finish"
    with ends_as("refused_actions", "2 actions in a row"):
        await asked(agent, [*history, step(4, "outside")])


async def test_foreign_code_is_shown_no_evidence() -> None:
    seen: list[Evidence] = []

    def decide(instruction: str, observation: Observation, history: Sequence[TrajectoryStep]) -> Decision:
        seen.extend(item.evidence for item in history)
        return Decision(status="finish")

    await asked(agent_of(decide), [step(1), step(2)])
    assert seen == [Evidence(step=1), Evidence(step=2)]


async def test_a_factory_that_fails_ends_the_attempt() -> None:
    def make() -> object:
        raise RuntimeError("no weights")

    with ends_as("agent_error", "no weights"):
        await asked(GuardedAgent(make, apart=True))
    with ends_as("agent_error", "no method `decide`"):
        await asked(GuardedAgent(object, apart=True))
