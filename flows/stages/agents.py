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
    """Names of all agents that taskloom provides."""
    return (MODEL, *AGENTS.names())


def is_own_code(name: str) -> bool:
    """Whether the agent is the user's own code."""
    return name not in known_agents()


def asks_a_model(name: str) -> bool:
    """Whether the agent asks a model of the run."""
    return name == MODEL or (name in AGENTS and bool(getattr(AGENTS.load(name), "MODEL", False)))


def is_person(name: str) -> bool:
    """Whether the agent is a person."""
    return name in AGENTS and bool(getattr(AGENTS.load(name), "PERSON", False))


_LASTING_KINDS = (ResourceKind.FILE, ResourceKind.RECORD)
_FACTORIES: dict[str, Callable[[], object]] = {}
"""Factories registered from Python, by name."""


def register_factory(factory: Callable[[], object]) -> str:
    """Register a factory that cannot be imported, such as one of a notebook; returns its name."""
    name = f"{factory.__module__}:{factory.__qualname__}"
    _FACTORIES[name] = factory
    return name


def roles_of(entry: AgentEntry) -> tuple[ModelRole, ...]:
    """The roles whose models an agent asks according to the settings of the run."""
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
        factory = _find_factory(name)
        if inspect.isclass(factory) and not callable(getattr(factory, "decide", None)):
            raise CommandError(
                f"the agent {name!r} makes a {factory.__name__}, which has no method `decide(instruction,"
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
        make = partial(_create_actor, task, brief, place, place.player(entry.title))
    elif name in AGENTS:
        make = partial(AGENTS.load(name).create, brief)
    else:
        make = partial(_call_factory, _find_factory(name), brief)
    return GuardedAgent(make, patience, apart=is_own_code(name), perception=entry.perception)


def recorded_parts(
    task: Task, place: Workplace, verified: Mapping[str, VerifiedSubtask]
) -> tuple[RecordedPart, ...]:
    """The recorded performances of the subtasks of `task`; empty if one is missing."""
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


def extra_work(task: Task, place: Workplace, verified: Mapping[str, VerifiedSubtask]) -> RecordedPart | None:
    """A performance of the first subtask that is not part of `task`, writes a file or record in one of its
    applications, and reads only what these start with; None if there is none."""
    inside = {node.subtask_id for node in task.graph.nodes}
    applications = applications_in(place.applications, task.world)
    categories = load_resource_categories(place.settings.catalog)
    opened = {node.application for node in task.graph.nodes}
    present = {item.value for name in opened for item in applications[name].fixtures}
    for known in (verified[name] for name in sorted(verified.keys() - inside)):
        subtask = known.subtask
        declared = {item.category for item in (*subtask.inputs, *subtask.outputs)}
        if subtask.application not in opened or declared - categories.keys():
            continue
        for instance in _instances_in(task.world, known, place.applications, categories):
            read, written = ({item.value for item in side} for side in (instance.inputs, instance.outputs))
            can_start = read <= present and not (written - read) & present
            has_lasting_output = any(item.kind in _LASTING_KINDS for item in instance.outputs)
            trajectory = known.performance(instance) if can_start and has_lasting_output else None
            if trajectory is not None:
                title = applications[subtask.application].title
                return RecordedPart(instance.instance_id, subtask.application, title, False, trajectory)
    return None


def _instances_in(
    world: str,
    known: VerifiedSubtask,
    applications: Mapping[str, Application],
    categories: Mapping[str, ResourceCategory],
) -> Iterator[BoundSubtask]:
    """The instances of a verified subtask in a world: its own, then those translated from the first world."""
    for item in known.trajectories:
        if item.world == world:
            yield known.subtask.bind(item.parameters, categories, world)
    for item in known.trajectories if world != FIRST_WORLD else ():
        if item.world == FIRST_WORLD:
            with contextlib.suppress(ParameterInvalidError):
                values = parameters_in(applications, item.parameters, world)
                yield known.subtask.bind(values, categories, world)


def _call_factory(factory: Callable[..., object], brief: AgentBrief) -> object:
    """Call the factory with whichever of `task`, `seed` and `settings` it has parameters for."""
    arguments = {"task": brief.task, "seed": brief.seed, "settings": dict(brief.settings)}
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return factory()
    if any(item.kind is inspect.Parameter.VAR_KEYWORD for item in parameters.values()):
        return factory(**arguments)
    return factory(**{name: value for name, value in arguments.items() if name in parameters})


def _find_factory(name: str) -> Callable[..., object]:
    if name in _FACTORIES:
        return _FACTORIES[name]
    module_name, colon, attribute = name.partition(":")
    if not colon or not module_name or not attribute:
        known = known_agents()
        near = get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise CommandError(
            f"the agent {name!r} is neither one of {', '.join(known)} nor of the form module:factory, such as"
            f" my_agents:make.{hint}"
        )
    if (folder := str(Path.cwd())) not in sys.path:
        sys.path.append(folder)
    try:
        module = import_module(module_name)
    except Exception as error:
        raise CommandError(
            f"the agent's module {module_name!r} cannot be imported: {type(error).__name__}: {error}. Is it"
            f" installed, in {folder}, or in a folder of PYTHONPATH?"
        ) from error
    factory = getattr(module, attribute, None)
    if not callable(factory):
        raise CommandError(f"the agent's module {module_name!r} has no function or class {attribute!r}.")
    return cast(Callable[..., object], factory)


def _create_actor(task: Task, brief: AgentBrief, place: Workplace, models: Models) -> object:
    """The actor model with the manuals of all applications of the task; it is shown every screen."""
    names = list(dict.fromkeys(node.application for node in task.graph.nodes))
    world_applications = applications_in(place.applications, task.world)
    applications = [world_applications[name] for name in names]
    combined = applications[0].model_copy(
        update={
            "name": ", ".join(names),
            "title": ", ".join(item.title for item in applications),
            "manual": "\n\n".join(f"# {item.title}\n{item.manual}" for item in applications),
        }
    )
    briefing = Briefing(brief.attempt_id, combined, brief.task.step_limit, brief.seed)
    settings = place.settings.performing.model_copy(update={"pictures": "always"})
    return actor(models, briefing, settings, annotated_picture)


R = TypeVar("R", bound=BaseModel)
_USAGE = "SELECT total(cost_usd), total(input_tokens + output_tokens) FROM calls WHERE item_id = ?"


@asynccontextmanager
async def agent_model(run: Run, order: AgentOrder) -> AsyncIterator[None]:
    """While the block runs, `run.player(…)` asks the agent's model, within the cost limit of an attempt."""
    title, entry = order.entry.title, order.entry
    if not asks_a_model(entry.agent):
        yield
        return
    if entry.model is None:
        run.players[title] = _LimitedModels(run.models, run.ledger, order.experiment.limits)
        yield
        return
    roles = {**run.settings.models.roles, ModelRole.ACTOR: RoleSettings(model=entry.model)}
    settings = run.settings.models.model_copy(update={"roles": roles})
    async with RoleModels(settings, run.ledger, run_id=run.run_id, account=run.calls.account) as models:
        run.players[title] = _LimitedModels(models, run.ledger, order.experiment.limits)
        yield


@dataclass(frozen=True, slots=True)
class _LimitedModels:
    """Models that refuse once an attempt has reached its cost limit."""

    models: Models
    ledger: Ledger
    limits: Limits

    async def ask(self, question: PromptInput[R], *, stage: str, item_id: str, attempt: int = 0) -> R:
        usd, tokens = self.limits.attempt_usd, self.limits.attempt_tokens
        if usd or tokens:
            row = self.ledger.select(_USAGE, (item_id,))[0]
            spent, used = float(str(row[0])), float(str(row[1]))
            if (usd and spent >= usd) or (tokens and used >= tokens):
                message = f"The attempt has cost {spent:.4f} USD and {used:.0f} tokens."
                raise AgentError(message, "attempt_budget")
        return await self.models.ask(question, stage=stage, item_id=item_id, attempt=attempt)
