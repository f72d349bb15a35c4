"""Two branches worked on by turns in a browser; and what happens behind the page in front."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from taskloom.environments.agent import Agent, Decision
from taskloom.environments.agents.recorded_agent import WorkedExampleAgent
from taskloom.environments.environment import Environment
from taskloom.environments.episode import record_steps
from taskloom.environments.installing.applications import is_installed
from taskloom.environments.lookup import platform
from taskloom.environments.starting_place import TASK_BAR_BUTTON
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.flows.stages.attempt_judging import AttemptJudge, judge_recording
from taskloom.omnieval.scoring import GraphEvaluation
from taskloom.resources.reading.catalog import load_applications
from taskloom.synthesis.cross_verification.clean_work import SideEffectAccount
from taskloom.taskgraph.records.interaction import ClickInput, Observation
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from tests.flows.test_work_by_turns import DRAWN, LONGER, NOTE, performed, task, written

pytestmark = [pytest.mark.browser, pytest.mark.applications, pytest.mark.slow]

DATA = Path(os.environ.get("TASKLOOM_DATA", "taskloom-data"))
APPLICATIONS = load_applications()
BRANCHES = {"tiddlywiki": (NOTE,), "drawio": (DRAWN,)}
STOPPED = "supervisor.stop_process"


class ByTurns:
    """Does four steps of one branch, then four of the other."""

    def __init__(self, branches: Sequence[tuple[str, Agent]]) -> None:
        self.branches = list(branches)
        self.made = 0

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        while self.branches:
            application, agent = self.branches[0]
            if observation.active_application != application:
                title = APPLICATIONS[application].title
                buttons = [item for item in observation.controls if item.control_type == TASK_BAR_BUTTON]
                (label,) = [item.label for item in buttons if item.text == title]
                return Decision(status="continue", action=ClickInput(control_label=label))
            decision = await agent.decide(instruction, observation, history)
            assert decision.status != "give_up", decision.message
            self.made += 1
            if decision.status == "continue":
                if self.made % 4 == 0:
                    self.branches.append(self.branches.pop(0))
                return decision
            self.branches.pop(0)
        return Decision(status="finish")


def follower(name: str) -> Agent:
    application, _, rest = name.partition(".")
    (example,) = [item for item in APPLICATIONS[application].example_subtasks if item.name == rest]
    known = {item.subtask_id: item.parameters for item in map(performed, (NOTE, LONGER, DRAWN))}
    values = known.get(name, example.parameter_sets[0])
    return WorkedExampleAgent(example.worked_example, values)


async def judged_twice(
    environment: Environment, agent: Agent, harmful: Agent, front: Sequence[str]
) -> tuple[GraphEvaluation, GraphEvaluation]:
    """The judgement of an attempt at both branches, with the page of the first application in front; and of
    the same attempt once `harmful` has gone on with it."""
    fresh = {performed(DRAWN).parameters["diagram_path"]}
    seen = await environment.reset([APPLICATIONS[name] for name in front], without=fresh)
    start = await environment.evidence()
    done = await record_steps(environment, agent, "", seen, step_limit=80)
    assert done.termination == "finished", done.message
    attempt = Trajectory(
        trajectory_id="attempt",
        subtask_id="task",
        instance_id="task",
        instruction="Do both.",
        parameters={},
        platform="web_browser",
        termination=done.termination,
        initial_evidence=start,
        steps=done.steps,
    )
    more = await record_steps(environment, harmful, "", done.observation, step_limit=80, history=done.steps)
    assert more.termination == "finished" and more.steps, more.message
    longer = attempt.model_copy(update={"steps": (*done.steps, *more.steps)})
    return await asyncio.to_thread(judged, attempt), await asyncio.to_thread(judged, longer)


def judged(attempt: Trajectory) -> GraphEvaluation:
    verified = {name: written(name) for names in BRANCHES.values() for name in names}
    with EvaluationSandbox() as sandbox:
        asked = task(*BRANCHES.values())
        account = SideEffectAccount(verified)
        judge = AttemptJudge(asked, account, sandbox, patience=80, step_limit=80)
        return judge_recording(judge, attempt).outcome


@pytest.mark.parametrize("front", [("tiddlywiki", "drawio"), ("drawio", "tiddlywiki")])
async def test_branches_are_completed_by_turns_and_a_process_stopped_behind_them_is_damage(
    front: tuple[str, str],
) -> None:
    missing = [name for name in (*front, "supervisor") if not is_installed(APPLICATIONS[name], DATA)]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}; `taskloom install` does it")
    module = platform("web_browser")
    environment = module.create(module.SETTINGS.model_validate({"data_folder": str(DATA)}))
    branches = [(name, BRANCHES[name][0]) for name in front]
    everything = (*front, "supervisor")
    by_turns = ByTurns([(a, follower(b)) for a, b in branches])
    harmful = ByTurns([("supervisor", follower(STOPPED))])
    try:
        right, harmed = await judged_twice(environment, by_turns, harmful, everything)
    finally:
        await environment.close()
    assert right.success, right
    assert set(right.completed) == {NOTE, DRAWN} and right.lost == ()
    assert right.side_effects is not None and right.side_effects.total == 0, right.side_effects
    assert harmed.success and harmed.side_effects is not None
    assert any("STOPPED" in example for example in harmed.side_effects.examples), harmed.side_effects
