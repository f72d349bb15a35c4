from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence

import pytest

from taskloom.environments.agent import Decision
from taskloom.environments.environment import Environment
from taskloom.environments.episode import Assignment, record_steps, run_episode
from taskloom.environments.errors import AgentError, ApplicationStartFailedError, EnvironmentBrokenError
from taskloom.environments.lookup import platform
from taskloom.environments.platforms.simulated.platform import simulated_applications
from taskloom.resources.applications import Application
from taskloom.taskgraph.records.grounding import find_control
from taskloom.taskgraph.records.interaction import Action, ClickInput, KeyboardInput, Observation
from taskloom.taskgraph.records.trajectory import TrajectoryStep

NOTES = next(item for item in simulated_applications() if item.name == "simulated_notes")
ASSIGNMENT = Assignment(
    instance_id="notes.write:1",
    subtask_id="notes.write",
    instruction="Write a note.",
    parameters={"text_path": "Documents/ideas.txt"},
)


class Scripted:
    """Decides what a list says: a decision, or the text of a control to click."""

    def __init__(self, *script: Decision | str | Exception) -> None:
        self.script = list(script)
        self.seen: list[tuple[TrajectoryStep, ...]] = []

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        self.seen.append(tuple(history))
        entry = self.script.pop(0) if self.script else Decision(status="finish")
        if isinstance(entry, Exception):
            raise entry
        if isinstance(entry, Decision):
            return entry
        control = next(control for control in observation.controls if control.text == entry)
        return Decision(
            status="continue", action=ClickInput(control_label=control.label), thought=f"click {entry}"
        )


class Failing:
    """An environment that breaks at a given call."""

    platform = "simulated"
    simulated = True

    def __init__(self, inner: Environment, *, at_reset: bool = False, at_act: int = 0) -> None:
        self.inner, self.at_reset, self.at_act, self.acts = inner, at_reset, at_act, 0

    async def reset(
        self, applications: Sequence[Application], *, without: Collection[str] = ()
    ) -> Observation:
        if self.at_reset:
            raise ApplicationStartFailedError("Notes did not open its port within 60 s.")
        return await self.inner.reset(applications, without=without)

    async def act(self, action: Action) -> Observation:
        self.acts += 1
        if self.acts == self.at_act:
            raise EnvironmentBrokenError("The browser died.")
        return await self.inner.act(action)

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)


@pytest.fixture
async def environment() -> AsyncIterator[Environment]:
    module = platform("simulated")
    made = module.create(module.SETTINGS.model_validate({"pictures": False}))
    yield made
    await made.close()


async def test_records_what_was_seen_done_and_changed(environment: Environment) -> None:
    agent = Scripted("Documents/meeting.txt", "Copy text")
    trajectory = await run_episode(
        environment, agent, assignment=ASSIGNMENT, applications=[NOTES], step_limit=5
    )
    assert trajectory.termination == "finished"
    assert [step.step for step in trajectory.steps] == [1, 2]
    assert trajectory.simulated and trajectory.platform == "simulated"
    assert trajectory.initial_evidence.step == 0 and trajectory.final_evidence.step == 2
    assert "Monday" in (trajectory.final_evidence.clipboard.text or "")
    first = trajectory.steps[0]
    assert first.target is not None and first.target.text == "Documents/meeting.txt"
    again = find_control(first.target, first.observation_controls)
    assert (
        again is not None
        and isinstance(first.action, ClickInput)
        and again.label == first.action.control_label
    )
    assert agent.seen[2] == trajectory.steps


async def test_a_reset_leaves_out_what_the_task_makes(environment: Environment) -> None:
    trajectory = await run_episode(
        environment,
        Scripted(),
        assignment=ASSIGNMENT,
        applications=[NOTES],
        step_limit=5,
        without=["Documents/ideas.txt"],
    )
    paths = [file.path for file in trajectory.final_evidence.files]
    assert "Documents/ideas.txt" not in paths and "Documents/meeting.txt" in paths


async def test_an_invalid_action_is_told_to_the_agent_and_ends_nothing(environment: Environment) -> None:
    agent = Scripted(
        Decision(status="continue", action=ClickInput(control_label="999")),
        Decision(status="continue", action=KeyboardInput(keys="{NOSUCH}")),
        Decision(status="continue"),
        "New",
    )
    trajectory = await run_episode(
        environment, agent, assignment=ASSIGNMENT, applications=[NOTES], step_limit=9
    )
    assert trajectory.termination == "finished"
    problems = [step.problem for step in trajectory.steps]
    assert (
        "no control '999'" in problems[0]
        and "is not a key" in problems[1]
        and "names no action" in problems[2]
    )
    assert problems[3] == ""
    assert [step.step for step in trajectory.steps] == [step.evidence.step for step in trajectory.steps]
    assert "no control '999'" in agent.seen[1][0].problem


async def test_ends_at_the_step_limit_only_when_the_agent_wants_more(environment: Environment) -> None:
    exact = await run_episode(
        environment, Scripted("New", "New"), assignment=ASSIGNMENT, applications=[NOTES], step_limit=2
    )
    assert exact.termination == "finished"
    more = await run_episode(
        environment, Scripted("New", "New", "New"), assignment=ASSIGNMENT, applications=[NOTES], step_limit=2
    )
    assert more.termination == "step_limit" and len(more.steps) == 2 and "2 steps" in more.message


async def test_giving_up_keeps_the_reason(environment: Environment) -> None:
    agent = Scripted("New", Decision(status="give_up", message="There is no such file."))
    trajectory = await run_episode(
        environment, agent, assignment=ASSIGNMENT, applications=[NOTES], step_limit=5
    )
    assert (trajectory.termination, trajectory.message) == ("gave_up", "There is no such file.")


async def test_a_failing_model_ends_the_episode_and_keeps_its_steps(environment: Environment) -> None:
    agent = Scripted("New", AgentError("The model refused."))
    trajectory = await run_episode(
        environment, agent, assignment=ASSIGNMENT, applications=[NOTES], step_limit=5
    )
    assert (trajectory.termination, trajectory.message, len(trajectory.steps)) == (
        "model_error",
        "The model refused.",
        1,
    )


async def test_what_an_agent_raises_otherwise_passes_through(environment: Environment) -> None:
    with pytest.raises(ZeroDivisionError):
        await run_episode(
            environment,
            Scripted(ZeroDivisionError()),
            assignment=ASSIGNMENT,
            applications=[NOTES],
            step_limit=5,
        )


async def test_an_environment_that_fails_is_recorded(environment: Environment) -> None:
    never = await run_episode(
        Failing(environment, at_reset=True),  # type: ignore[arg-type]
        Scripted(),
        assignment=ASSIGNMENT,
        applications=[NOTES],
        step_limit=5,
    )
    assert never.termination == "environment_error" and not never.steps
    assert never.message.startswith("ApplicationStartFailedError: Notes did not open")
    broken = await run_episode(
        Failing(environment, at_act=2),  # type: ignore[arg-type]
        Scripted("New", "New"),
        assignment=ASSIGNMENT,
        applications=[NOTES],
        step_limit=5,
    )
    assert broken.termination == "environment_error" and len(broken.steps) == 1


async def test_steps_can_go_on_without_a_reset(environment: Environment) -> None:
    observation = await environment.reset([NOTES])
    first = await record_steps(environment, Scripted("New"), "Go", observation, step_limit=3)
    heard: list[int] = []

    async def listen(step: TrajectoryStep) -> None:
        heard.append(step.step)

    second = await record_steps(
        environment,
        Scripted("New"),
        "Go",
        first.observation,
        step_limit=3,
        history=first.steps,
        on_step=listen,
    )
    assert [step.step for step in second.steps] == heard == [2]


async def test_nothing_is_done_from_a_start_that_lacks_something(environment: Environment) -> None:
    trajectory = await run_episode(
        environment,
        Scripted(ZeroDivisionError()),
        assignment=ASSIGNMENT,
        applications=[NOTES],
        step_limit=5,
        check_start=lambda evidence: ["there is no such file"] if evidence.step == 0 else [],
    )
    assert (trajectory.termination, trajectory.message) == ("invalid_start", "there is no such file")
    assert trajectory.steps == ()
