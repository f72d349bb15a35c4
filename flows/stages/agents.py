"""Agents that can be evaluated: the user's `module:factory`, the actor model, and recorded work as an upper
bound."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import cast

from taskloom.environments.agent import Agent, Decision
from taskloom.environments.starting_place import StartingPlaceAgent, needs_open_page
from taskloom.flows.errors import CommandError
from taskloom.flows.wiring import Workplace
from taskloom.omnieval.brief import AgentBrief, AgentTask
from taskloom.omnieval.lookup import AGENTS, agent_module
from taskloom.resources.reading.translation import applications_in
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.synthesis.trajectories.briefing import Briefing
from taskloom.synthesis.trajectories.reperformance import RecordedAgent
from taskloom.synthesis.trajectories.trajectories import actor, annotated_picture
from taskloom.taskgraph.records.interaction import Observation
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import TrajectoryStep

AgentMaker = Callable[[Task], Agent]
"""Makes a new agent for one attempt at a task."""

BUILT_IN = ("model", "recorded")
"""Agents that taskloom brings."""


def agent_maker(
    name: str, run: Workplace, verified: Mapping[str, VerifiedSubtask], step_limit: int
) -> AgentMaker:
    """The factory of the agent `name`: `model`, `recorded`, one that a package brings, or the user's
    `module:factory`.

    The factory is called once per task, without arguments, and returns an object with `decide`; see
    `taskloom.environments.agent.Agent`.

    Raises:
        CommandError: there is no such module or factory, or it does not return an agent.
    """
    if name == "recorded":
        return lambda task: RecordedTaskAgent.of(task, run, verified)
    if name == "model":
        return lambda task: _model_agent(task, run, step_limit)
    if name in AGENTS:
        module = agent_module(name)
        return lambda task: module.create(_brief(task, run, step_limit))
    factory = _factory(name)

    def make(task: Task) -> Agent:
        made = factory()
        if not inspect.iscoroutinefunction(getattr(made, "decide", None)):
            raise CommandError(
                f"the agent {name!r} made a {type(made).__name__}, which has no `async def"
                " decide(instruction, observation, history)`; see docs/agents.md."
            )
        return cast(Agent, made)

    return make


_GIVEN: dict[str, Callable[[], object]] = {}
"""Factories that were given from Python, by name."""


def named(factory: Callable[[], object]) -> str:
    """The name by which this process finds a factory that has none, such as one defined in a notebook."""
    name = f"{factory.__module__}:{factory.__qualname__}"
    _GIVEN[name] = factory
    return name


def check_agent(name: str) -> None:
    """Check that there is an agent of this name, without creating it.

    Raises:
        CommandError: there is no such module or factory.
    """
    if name in AGENTS:
        agent_module(name)
    elif name not in BUILT_IN:
        _factory(name)


def _brief(task: Task, run: Workplace, step_limit: int) -> AgentBrief:
    """What an agent that taskloom brings is made from."""
    told = AgentTask(task_id=task.task_id, instruction=task.instruction, step_limit=step_limit)
    return AgentBrief(task=told, seed=run.settings.seed, models=run.models, attempt_id=task.task_id)


def _factory(name: str) -> Callable[[], object]:
    if name in _GIVEN:
        return _GIVEN[name]
    module_name, colon, attribute = name.partition(":")
    if not colon or not module_name or not attribute:
        raise CommandError(
            f"the agent {name!r} is neither {' nor '.join((*BUILT_IN, *AGENTS.names()))}, nor of the form"
            " module:factory, such as my_agents:make."
        )
    try:
        module = import_module(module_name)
    except ImportError as error:
        raise CommandError(
            f"the agent's module {module_name!r} cannot be imported: {error}. Is it installed, or its folder"
            " in PYTHONPATH?"
        ) from error
    factory = getattr(module, attribute, None)
    if not callable(factory):
        raise CommandError(f"the agent's module {module_name!r} has no function or class {attribute!r}.")
    return cast(Callable[[], object], factory)


def _model_agent(task: Task, run: Workplace, step_limit: int) -> Agent:
    """The actor model with the manuals of all applications of the task."""
    names = list(dict.fromkeys(node.application for node in task.graph.nodes))
    there = applications_in(run.applications, task.world)
    applications = [there[name] for name in names]
    whole = applications[0].model_copy(
        update={
            "name": ", ".join(names),
            "title": ", ".join(item.title for item in applications),
            "manual": "\n\n".join(f"# {item.title}\n{item.manual}" for item in applications),
        }
    )
    briefing = Briefing(task.task_id, whole, step_limit)
    return actor(run.models, briefing, run.settings.performing, annotated_picture)


@dataclass(slots=True)
class RecordedTaskAgent:
    """Performs a task from the verified trajectories of its subtasks: what a perfect agent would score.

    It ignores the instruction, so it says nothing about instructions; it shows that tasks and evaluator
    agree.
    """

    parts: list[Agent] = field(default_factory=list)
    """The remaining work, in order: for each subtask, the way to its starting place, then the recorded
    actions."""

    @classmethod
    def of(cls, task: Task, run: Workplace, verified: Mapping[str, VerifiedSubtask]) -> RecordedTaskAgent:
        """The agent for `task`, in its first successful order."""
        nodes = {node.instance_id: node for node in task.graph.nodes}
        order = task.successful_orders[0] if task.successful_orders else tuple(nodes)
        parts: list[Agent] = []
        used: set[str] = set()
        for node in (nodes[name] for name in order):
            trajectory = verified[node.subtask_id].performance(node)
            if trajectory is None:
                raise CommandError(f"no verified trajectory is stored for {node.instance_id}.")
            first_page = node.application in used and not needs_open_page(node)
            used.add(node.application)
            title = run.applications[node.application].title
            parts += [StartingPlaceAgent(node.application, title, first_page), RecordedAgent(trajectory)]
        return cls(parts)

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The next action of the current subtask, or on the way to its starting place."""
        while self.parts:
            decision = await self.parts[0].decide(instruction, observation, history)
            if decision.status != "finish":
                return decision
            del self.parts[0]
        return Decision(status="finish")
