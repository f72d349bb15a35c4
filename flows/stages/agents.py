"""Agents that can be evaluated: those of `omnieval/agents`, the actor model, and `module:factory`."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TypeVar, cast

from pydantic import BaseModel, JsonValue

from taskloom.environments.agents.guarding import GuardedAgent, Patience
from taskloom.environments.errors import AgentError
from taskloom.environments.starting_place import needs_open_page
from taskloom.flows.errors import CommandError
from taskloom.flows.wiring import Run, Workplace
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.role_models import RoleModels
from taskloom.model_clients.settings import RoleSettings
from taskloom.omnieval.brief import AgentBrief, RecordedPart
from taskloom.omnieval.experiments import AgentEntry, AgentOrder, Limits
from taskloom.omnieval.lookup import AGENTS, check_agent_settings
from taskloom.prompts.prompt_input import PromptInput
from taskloom.resources.applications import Application
from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.resources.reading.catalog import load_resource_categories
from taskloom.resources.reading.translation import applications_in, parameters_in
from taskloom.resources.worlds import FIRST_WORLD
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.synthesis.ports import Models
from taskloom.synthesis.trajectories.trajectories import Briefing, actor, annotated_picture
from taskloom.taskgraph.errors import ParameterInvalidError
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Task

MODEL = "model"
"""The actor of builds, as an agent."""


def known_agents() -> tuple[str, ...]:
    """Names of all agents that taskloom brings."""
    return (MODEL, *AGENTS.names())


def is_own_code(name: str) -> bool:
    """Whether the agent is the user's own code."""
    return name not in known_agents()


def asks_a_model(name: str) -> bool:
    """Whether the agent asks a model of the run."""
    return name == MODEL or (name in AGENTS and bool(getattr(AGENTS.load(name), "MODEL", False)))


def is_person(name: str) -> bool:
    """Whether a person decides."""
    return name in AGENTS and bool(getattr(AGENTS.load(name), "PERSON", False))


_LASTING = (ResourceKind.FILE, ResourceKind.RECORD)
_GIVEN: dict[str, Callable[[], object]] = {}
"""Factories that were given from Python, by name."""


def register_factory(factory: Callable[[], object]) -> str:
    """The name by which this process finds a factory that has none, such as one defined in a notebook."""
    name = f"{factory.__module__}:{factory.__qualname__}"
    _GIVEN[name] = factory
    return name


def roles_of(entry: AgentEntry) -> tuple[ModelRole, ...]:
    """The roles of models that an agent asks by the settings of the run."""
    if not asks_a_model(entry.agent):
        return ()
    further = getattr(AGENTS.load(entry.agent), "ROLES", ()) if entry.agent in AGENTS else ()
    return (*(() if entry.model else (ModelRole.ACTOR,)), *further)


def check_agent(name: str, settings: Mapping[str, JsonValue] | None = None) -> None:
    """Check that there is an agent of this name, and its settings, without creating it.

    Raises:
        CommandError: there is no such module or factory, or a setting is wrong.
    """
    if name in AGENTS:
        try:
            check_agent_settings(name, settings or {})
        except AgentError as error:
            raise CommandError(f"the agent {name!r} cannot be made: {error}") from None
    if is_own_code(name):
        made = _factory(name)
        if inspect.isclass(made) and not callable(getattr(made, "decide", None)):
            raise CommandError(
                f"the agent {name!r} makes a {made.__name__}, which has no method `decide(instruction,"
                " observation, history)`; see docs/agents.md."
            )


def guarded_agent(
    entry: AgentEntry, task: Task, brief: AgentBrief, place: Workplace, patience: Patience
) -> GuardedAgent:
    """A new agent for one attempt at `task`.

    Raises:
        CommandError: there is no such agent.
    """
    name = entry.agent
    make: Callable[[], object]
    if name == MODEL:
        make = partial(_actor, task, brief, place, place.player(entry.title))
    elif name in AGENTS:
        make = partial(AGENTS.load(name).create, brief)
    else:
        make = partial(_made_by, _factory(name), brief)
    return GuardedAgent(make, patience, apart=is_own_code(name), perception=entry.perception)


def recorded_parts(
    task: Task, place: Workplace, verified: Mapping[str, VerifiedSubtask]
) -> tuple[RecordedPart, ...]:
    """How the subtasks of `task` were performed; empty where one was not."""
    needs: dict[str, list[str]] = {}
    for producer, consumer in task.graph.pairs:
        needs.setdefault(consumer, []).append(producer)
    parts = []
    for node in task.graph.nodes:
        known = verified.get(node.subtask_id)
        trajectory = known.performance(node) if known else None
        if trajectory is None:
            return ()
        parts.append(
            RecordedPart(
                instance_id=node.instance_id,
                application=node.application,
                title=place.applications[node.application].title,
                reads_open_page=needs_open_page(node),
                trajectory=trajectory,
                needs=tuple(needs.get(node.instance_id, ())),
            )
        )
    return tuple(parts)


def work_beside(task: Task, place: Workplace, verified: Mapping[str, VerifiedSubtask]) -> RecordedPart | None:
    """A performance of the first subtask that is no part of `task`, writes a file or record in one of its
    applications, and needs no more than that starts with; None without one."""
    inside = {node.subtask_id for node in task.graph.nodes}
    there = applications_in(place.applications, task.world)
    categories = load_resource_categories(place.settings.catalog)
    opened = {node.application for node in task.graph.nodes}
    laid = {item.value for name in opened for item in there[name].fixtures}
    for known in (verified[name] for name in sorted(verified.keys() - inside)):
        subtask = known.subtask
        declared = {item.category for item in (*subtask.inputs, *subtask.outputs)}
        if subtask.application not in opened or declared - categories.keys():
            continue
        for bound in _instances_in(task.world, known, place.applications, categories):
            read, written = ({item.value for item in side} for side in (bound.inputs, bound.outputs))
            starts = read <= laid and not (written - read) & laid
            lasts = any(item.kind in _LASTING for item in bound.outputs)
            trajectory = known.performance(bound) if starts and lasts else None
            if trajectory is not None:
                title = there[subtask.application].title
                return RecordedPart(bound.instance_id, subtask.application, title, False, trajectory)
    return None


def _instances_in(
    world: str,
    known: VerifiedSubtask,
    applications: Mapping[str, Application],
    categories: Mapping[str, ResourceCategory],
) -> Iterator[BoundSubtask]:
    """The instances of a verified subtask in one world: its own there, then those of the first world."""
    for item in known.trajectories:
        if item.world == world:
            yield known.subtask.bind(item.parameters, categories, world)
    for item in known.trajectories if world != FIRST_WORLD else ():
        if item.world == FIRST_WORLD:
            with contextlib.suppress(ParameterInvalidError):
                values = parameters_in(applications, item.parameters, world)
                yield known.subtask.bind(values, categories, world)


def _made_by(factory: Callable[..., object], brief: AgentBrief) -> object:
    """What the factory makes of what it has parameters for: `task`, `seed`, `settings`."""
    offered = {"task": brief.task, "seed": brief.seed, "settings": dict(brief.settings)}
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return factory()
    if any(item.kind is inspect.Parameter.VAR_KEYWORD for item in parameters.values()):
        return factory(**offered)
    return factory(**{name: value for name, value in offered.items() if name in parameters})


def _factory(name: str) -> Callable[..., object]:
    if name in _GIVEN:
        return _GIVEN[name]
    module_name, colon, attribute = name.partition(":")
    if not colon or not module_name or not attribute:
        known = known_agents()
        near = get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise CommandError(
            f"the agent {name!r} is neither one of {', '.join(known)} nor of the form module:factory, such as"
            f" my_agents:make.{hint}"
        )
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    try:
        module = import_module(module_name)
    except Exception as error:
        raise CommandError(
            f"the agent's module {module_name!r} cannot be imported: {type(error).__name__}: {error}. Is it"
            f" installed, in {here}, or in a folder of PYTHONPATH?"
        ) from error
    factory = getattr(module, attribute, None)
    if not callable(factory):
        raise CommandError(f"the agent's module {module_name!r} has no function or class {attribute!r}.")
    return cast(Callable[..., object], factory)


def _actor(task: Task, brief: AgentBrief, place: Workplace, models: Models) -> object:
    """The actor model with the manuals of all applications of the task; it sees every screen."""
    names = list(dict.fromkeys(node.application for node in task.graph.nodes))
    there = applications_in(place.applications, task.world)
    applications = [there[name] for name in names]
    whole = applications[0].model_copy(
        update={
            "name": ", ".join(names),
            "title": ", ".join(item.title for item in applications),
            "manual": "\n\n".join(f"# {item.title}\n{item.manual}" for item in applications),
        }
    )
    briefing = Briefing(brief.attempt_id, whole, brief.task.step_limit, brief.seed)
    settings = place.settings.performing.model_copy(update={"pictures": "always"})
    return actor(models, briefing, settings, annotated_picture)


R = TypeVar("R", bound=BaseModel)
_SPENT = "SELECT total(cost_usd), total(input_tokens + output_tokens) FROM calls WHERE item_id = ?"


@asynccontextmanager
async def agent_model(run: Run, order: AgentOrder) -> AsyncIterator[None]:
    """While the block runs, `run.player(…)` asks the agent's model, within what one attempt may cost."""
    title, entry = order.entry.title, order.entry
    if not asks_a_model(entry.agent):
        yield
        return
    if entry.model is None:
        run.players[title] = _Bounded(run.models, run.ledger, order.experiment.limits)
        yield
        return
    roles = {**run.settings.models.roles, ModelRole.ACTOR: RoleSettings(model=entry.model)}
    settings = run.settings.models.model_copy(update={"roles": roles})
    async with RoleModels(settings, run.ledger, run_id=run.run_id, account=run.calls.account) as models:
        run.players[title] = _Bounded(models, run.ledger, order.experiment.limits)
        yield


@dataclass(frozen=True, slots=True)
class _Bounded:
    """Models that are not asked once an attempt has cost what one may cost."""

    models: Models
    ledger: Ledger
    limits: Limits

    async def ask(self, question: PromptInput[R], *, stage: str, item_id: str, attempt: int = 0) -> R:
        usd, tokens = self.limits.attempt_usd, self.limits.attempt_tokens
        if usd or tokens:
            row = self.ledger.select(_SPENT, (item_id,))[0]
            spent, taken = float(str(row[0])), float(str(row[1]))
            if (usd and spent >= usd) or (tokens and taken >= tokens):
                message = f"The attempt has cost {spent:.4f} USD and {taken:.0f} tokens."
                raise AgentError(message, "attempt_budget")
        return await self.models.ask(question, stage=stage, item_id=item_id, attempt=attempt)
