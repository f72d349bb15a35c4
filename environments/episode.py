"""The one agent-environment loop: reset, observe, decide, act, record the evidence, repeat."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from time import monotonic
from typing import Self

from pydantic import Field

from taskloom.environments.agent import Agent, Companion, Decision
from taskloom.environments.aiming import aim
from taskloom.environments.environment import Environment
from taskloom.environments.errors import ActionInvalidError, AgentError, EnvironmentFailureError
from taskloom.environments.screen_words import describe_change, describe_screen
from taskloom.resources.applications import Application
from taskloom.resources.record import Record
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.grounding import describe_control, find_control
from taskloom.taskgraph.records.interaction import (
    Action,
    ClickInput,
    KeyboardInput,
    Observation,
    WaitInput,
)
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Termination, Trajectory, TrajectoryStep


class Assignment(Record):
    """What an agent is asked to do in one episode."""

    instance_id: str
    """Id of the bound subtask, or of the attempt at a task."""
    subtask_id: str
    """The subtask, or the task."""
    instruction: str
    """The text that the agent gets."""
    parameters: dict[str, str] = Field(default_factory=dict)
    """Parameters of the subtask; a task has none of its own."""

    world: str = ""
    """World whose data the episode starts with; empty for the first world."""

    @classmethod
    def of_subtask(cls, instance: BoundSubtask) -> Self:
        """The assignment to perform one bound subtask."""
        return cls.model_validate(instance, from_attributes=True)

    @classmethod
    def of_task(cls, task: Task, attempt_id: str, instruction: str) -> Self:
        """The assignment to perform a whole task, described by `instruction`."""
        return cls(instance_id=attempt_id, subtask_id=task.task_id, instruction=instruction, world=task.world)


StepListener = Callable[[TrajectoryStep], Awaitable[None]]
"""Called with every step once it is recorded."""
StartListener = Callable[[Evidence], Awaitable[None]]
"""Called with the state that an episode starts from."""
StartCheck = Callable[[Evidence], Sequence[str]]
"""Lists, as phrases, what is missing from the state that an episode starts from."""


_LOOKS_PER_PERIOD = 3


@dataclass(frozen=True, slots=True)
class Quiet:
    """How long to wait for an environment once the agent has ended."""

    seconds: float = 0.0
    """How long nothing must have changed; 0 takes evidence at once."""
    limit_seconds: float = 10.0
    """Longest wait for that."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What happened in a part of an episode."""

    steps: tuple[TrajectoryStep, ...]
    termination: Termination
    """How it ended."""
    message: str
    """Why, for an end other than `finished`."""
    observation: Observation
    """The last screen."""
    failure: EnvironmentFailureError | None = None
    """What ended it as `environment_error`; its `transient` says whether another try can help."""
    answer: str = ""
    """What the agent answered at its end."""


async def run_episode(
    environment: Environment,
    agent: Agent,
    *,
    assignment: Assignment,
    applications: Sequence[Application],
    step_limit: int,
    without: Collection[str] = (),
    trajectory_id: str = "",
    attempt: int = 0,
    provenance: Provenance | None = None,
    check_start: StartCheck | None = None,
    on_start: StartListener | None = None,
    on_step: StepListener | None = None,
    on_failure: Callable[[EnvironmentFailureError], None] | None = None,
    turn: AbstractAsyncContextManager[object] | None = None,
    companion: Companion | None = None,
    quiet: Quiet | None = None,
) -> Trajectory:
    """Have `agent` carry out `assignment` after a reset with `applications` (the first in front).

    Always returns a trajectory: mistakes are reported to the agent, and a failing environment ends the
    episode as `environment_error` with the steps recorded so far; `on_failure` gets the error. The id is
    derived from assignment and attempt unless given. If `check_start` finds something missing, the agent is
    not asked and the episode ends as `invalid_start`. After the reset the episode waits for `turn`, so that
    environments can be prepared ahead. With `quiet`, evidence is taken again once nothing changes any more.

    Raises:
        Exception: whatever the agent raises other than AgentError, such as an exhausted budget.
    """
    steps: tuple[TrajectoryStep, ...] = ()
    initial = Evidence(step=0)
    termination: Termination
    failure: EnvironmentFailureError | None = None
    closing, answer = None, ""
    try:
        observation = await environment.reset(applications, without=without)
        initial = await environment.evidence()
    except EnvironmentFailureError as error:
        termination, message, failure = "environment_error", describe_failure(error), error
    else:
        missing = check_start(initial) if check_start is not None else ()
        if missing:
            termination, message = "invalid_start", "; ".join(missing)
        else:
            if on_start is not None:
                await on_start(initial)
            async with turn or nullcontext():
                recording = await record_steps(
                    environment,
                    agent,
                    assignment.instruction,
                    observation,
                    step_limit=step_limit,
                    on_step=on_step,
                    companion=companion,
                )
            steps, termination, message = recording.steps, recording.termination, recording.message
            failure, answer = recording.failure, recording.answer
            if quiet is not None and failure is None:
                closing = await _evidence_when_quiet(environment, quiet)
    if failure is not None and on_failure is not None:
        on_failure(failure)
    return Trajectory(
        trajectory_id=trajectory_id or f"{assignment.instance_id}:{attempt}",
        **dict(assignment),
        platform=environment.platform,
        simulated=environment.simulated,
        initial_evidence=initial,
        steps=steps,
        closing_evidence=closing,
        termination=termination,
        answer=answer,
        message=message,
        attempt=attempt,
        provenance=provenance or Provenance(),
    )


async def record_steps(
    environment: Environment,
    agent: Agent,
    instruction: str,
    observation: Observation,
    *,
    step_limit: int,
    history: Sequence[TrajectoryStep] = (),
    on_step: StepListener | None = None,
    companion: Companion | None = None,
) -> Recording:
    """Continue from `observation` without a reset until the agent stops or has made `step_limit` more steps.

    Step numbers continue from those in `history`, which the agent sees as well.
    """
    steps: list[TrajectoryStep] = []
    while True:
        try:
            decision = await agent.decide(instruction, observation, (*history, *steps))
        except AgentError as error:
            return Recording(tuple(steps), error.termination, str(error), observation)
        if decision.status == "finish":
            return Recording(tuple(steps), "finished", "", observation, answer=decision.answer)
        if decision.status == "give_up":
            return Recording(tuple(steps), "gave_up", decision.message, observation)
        if len(steps) >= step_limit:
            message = f"The agent wanted to go on after {step_limit} steps."
            return Recording(tuple(steps), "step_limit", message, observation)
        number = len(history) + len(steps) + 1
        try:
            focusing = focusing_decision(decision, observation)
            if focusing is not None:
                before = observation
                step, observation = await _carry_out(environment, focusing, before, number)
                steps.append(step)
                if on_step is not None:
                    await on_step(step)
                decision, number = retarget_typing(decision, before, observation), number + 1
            step, observation = await _carry_out(environment, decision, observation, number)
        except EnvironmentFailureError as error:
            message = describe_failure(error)
            return Recording(tuple(steps), "environment_error", message, observation, error)
        if companion is not None or decision.status == "ask_user":
            step = _with_message(step, decision, companion)
        steps.append(step)
        if on_step is not None:
            await on_step(step)


def describe_failure(error: EnvironmentFailureError) -> str:
    """The kind of a failure and its message, for a record."""
    return f"{type(error).__name__}: {error}"


def _with_message(step: TrajectoryStep, decision: Decision, companion: Companion | None) -> TrajectoryStep:
    question = decision.message if decision.status == "ask_user" else ""
    message = companion.says(question, step.step) if companion is not None else ""
    if question and not message:
        message = "Nobody answers questions here."
    return step.model_copy(update={"told": message})


async def _evidence_when_quiet(environment: Environment, quiet: Quiet) -> Evidence | None:
    """Evidence taken once nothing has changed for a while, or the wait is over; None if taking it fails."""
    end = monotonic() + quiet.limit_seconds
    try:
        await environment.observe()
        last = await environment.evidence()
        since = monotonic()
        while quiet.seconds and monotonic() - since < quiet.seconds and monotonic() < end:
            await asyncio.sleep(min(quiet.seconds / _LOOKS_PER_PERIOD, max(0.0, end - monotonic())))
            await environment.observe()
            now = await environment.evidence()
            if _state(now) != _state(last):
                last, since = now, monotonic()
        return last
    except EnvironmentFailureError:
        return None


def _state(evidence: Evidence) -> tuple[object, ...]:
    return (evidence.files, evidence.directories, evidence.clipboard, evidence.controls, evidence.url)


async def _carry_out(
    environment: Environment, decision: Decision, before: Observation, number: int
) -> tuple[TrajectoryStep, Observation]:
    """Carry out one decision; an action that cannot be carried out is a step with a problem."""
    action: Action = decision.action if decision.action is not None else WaitInput(seconds=0)
    problem, change, target, end = "", "", None, None
    if decision.action is None and decision.status == "continue":
        problem = decision.message or "The decision was to continue, but it names no action."
    try:
        aimed = aim(action, before.controls, before.screen_size)
        action, target, end = aimed.action, aimed.target, aimed.end
    except ActionInvalidError:
        pass  # the environment refuses it with the same message, and counts the step
    try:
        after = await environment.act(action)
        change = "" if problem else describe_change(before, after)
    except ActionInvalidError as error:
        problem = str(error)
        after = await environment.observe()
    box = target.rectangle if target is not None else None
    step = TrajectoryStep(
        step=number,
        observation_screenshot=before.screenshot,
        observation_controls=before.controls,
        description=decision.description or describe_screen(before.window_title, before.controls, target),
        thought=decision.thought,
        slip=decision.slip,
        action=action,
        target=describe_control(target, before.controls) if target is not None else None,
        target_rectangle=(box.left, box.top, box.right, box.bottom) if box is not None else None,
        end_target=describe_control(end, before.controls) if end is not None else None,
        change=change,
        problem=problem,
        evidence=await environment.evidence(),
    )
    return step, after


def focusing_decision(decision: Decision, observation: Observation) -> Decision | None:
    """The click on the field that `decision` types into; None if the field has the focus, or it types into no
    field. The click has no thought, because it is not a decision of the agent."""
    action = decision.action
    if not isinstance(action, KeyboardInput):
        return None
    try:
        aimed = aim(action, observation.controls, observation.screen_size)
    except ActionInvalidError:
        return None
    field = aimed.target
    if field is None or field.focused or field.disabled or field.control_type != "Edit":
        return None
    return Decision(status="continue", action=ClickInput(control_label=field.label, position=action.position))


def retarget_typing(decision: Decision, before: Observation, after: Observation) -> Decision:
    """The typing, aimed at the same field on the screen after the click, or at whatever has the focus."""
    action = decision.action
    assert isinstance(action, KeyboardInput)
    field = aim(action, before.controls, before.screen_size).target
    assert field is not None
    found = find_control(describe_control(field, before.controls), after.controls)
    label = found.label if found is not None else ""
    target_fields = {"control_label": label, "control_text": "", "point": None, "position": None}
    return decision.model_copy(update={"action": action.model_copy(update=target_fields)})
