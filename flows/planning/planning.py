"""`--dry-run`: what a run would do and what it may cost, from the ledger's statistics or rough estimates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from taskloom.flows.nights.choices import cells_held, fingerprint_of, night_choice, remaining_request
from taskloom.flows.pool import load_verified, wishes_of
from taskloom.flows.settings import Settings
from taskloom.flows.wiring import choose_applications
from taskloom.model_clients.ledger.budget import prices_of
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.resources.applications import Application
from taskloom.resources.record import Record
from taskloom.synthesis.intents import BARREN_CALLS
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.warehouse.errors import WarehouseMissingError
from taskloom.warehouse.store import Warehouse


class PlannedNight(Record):
    """What a night that began now would decide."""

    explored: dict[str, str]
    """Applications that it would explore, with the reason."""
    left: dict[str, str] = Field(default_factory=dict)
    """Applications that it would not explore, with the reason."""
    verified: int = 0
    """Verified subtasks that the dataset has."""
    rechecked: int = 0
    """How many of them it would perform again, assuming that they all still replay."""
    held: int = 0
    """Valid tasks that the dataset has."""
    tasks: int
    """Tasks that it would compose."""

    def describe(self) -> list[str]:
        """The decisions as lines of text."""
        return [
            (
                f"night: performs {self.rechecked} of {self.verified} verified subtasks again, explores"
                f" {len(self.explored)} of {len(self.explored) + len(self.left)} applications, composes"
                f" {self.tasks} tasks in addition to {self.held} valid ones"
            ),
            *(f"  explores {name}: {reason}" for name, reason in self.explored.items()),
            *(f"  leaves {name}: {reason}" for name, reason in self.left.items()),
        ]


def plan_night(settings: Settings, applications: Mapping[str, Application]) -> PlannedNight:
    """The decisions of a night on the current dataset; a night that would be resumed is ignored.

    Raises:
        WarehouseError: the warehouse cannot be read.
    """
    explored: dict[str, str] = {}
    left: dict[str, str] = {}
    try:
        warehouse = Warehouse(settings.warehouse_location, read_only=True)
    except WarehouseMissingError:
        explored = dict.fromkeys(applications, "it is new: there is no dataset yet")
        return PlannedNight(explored=explored, tasks=settings.composition.wanted)
    with warehouse:
        for name, application in applications.items():
            fingerprint = fingerprint_of(application, settings, wishes_of(warehouse, "", name))
            chosen, reason = night_choice(warehouse, name, fingerprint)
            (explored if chosen else left)[name] = reason
        verified = len(load_verified(warehouse, applications))
        cells = cells_held(warehouse, "")
    wanted = remaining_request(settings.composition, cells)
    return PlannedNight(
        explored=explored,
        left=left,
        verified=verified,
        rechecked=math.ceil(settings.nights.recheck_share * verified),
        held=len(cells),
        tasks=0 if wanted is None else wanted.wanted,
    )


@dataclass(frozen=True, slots=True)
class _Averages:
    calls_per_item: float
    input_tokens: float
    output_tokens: float


_ROUGH_AVERAGES = {
    ModelRole.EXPLORER: ("exploration", _Averages(3.5, 6000, 4000)),
    ModelRole.ACTOR: ("trajectories", _Averages(8.0, 5000, 250)),
    ModelRole.EVALUATION_WRITER: ("evaluation_functions", _Averages(1.2, 7000, 700)),
    ModelRole.INTENT_EXTRACTOR: ("intents", _Averages(1.0, 9000, 2500)),
    ModelRole.SUMMARIZER: ("instructions", _Averages(1.2, 1500, 300)),
    ModelRole.DEPENDENCY_JUDGE: ("validation", _Averages(1.2, 1200, 250)),
    ModelRole.CRITIC: ("criticism", _Averages(1.0, 1300, 200)),
}
"""Fallbacks if the ledger has no figures: by role, the stage, and calls per application, performance,
subtask, round of intents, task, task and scored task, with their tokens."""
_ROUGH_PROPOSALS = 12
"""Well-formed proposals for an application without curated subtasks, if the ledger has no figure."""
_ROUGH_TASKS = 12.0
"""Maximum tasks per subtask if the ledger has no figure: a small pool cannot supply all requested tasks."""
_ROUGH_LINKS = 0.1
"""That maximum per subtask of the pool, if a model proposed all subtasks: models link them less."""


class PlannedCalls(Record):
    """Expected calls of one stage."""

    stage: str
    """Stage of the method."""
    role: str
    """Model role."""
    provider: str
    """Provider."""
    model: str
    """Model."""
    calls: int
    """Expected calls."""
    input_tokens: int
    """Expected input."""
    output_tokens: int
    """Expected output."""
    cost_usd: float | None
    """Expected price in US dollars; None if the model's price is unknown."""
    measured: bool
    """Whether calls per item and tokens per call are the ledger's averages rather than rough estimates."""


class Plan(Record):
    """What a run would do."""

    flow: str
    """The flow."""
    applications: tuple[str, ...]
    """Applications used."""
    missing: dict[str, str]
    """Applications left out, with the reason."""
    environments: int
    """Concurrent environments."""
    subtasks: int
    """Subtasks expected."""
    tasks: int
    """Tasks wanted."""
    calls: tuple[PlannedCalls, ...]
    """Expected calls by stage: an upper estimate, because calls that the ledger can answer are included."""
    assumptions: tuple[str, ...] = ()
    """Assumptions of the estimate."""
    night: PlannedNight | None = None
    """What the run would decide if it is a night."""

    def describe(self) -> str:
        """The plan as text."""
        lines = [
            f"{self.flow}: {len(self.applications)} applications ({', '.join(self.applications)}),"
            f" {self.environments} environments, about {self.subtasks} subtasks, {self.tasks} tasks"
        ]
        lines += [f"left out: {name}: {reason}" for name, reason in self.missing.items()]
        lines += self.night.describe() if self.night is not None else []
        lines.append("Expected model calls (upper estimate; what the ledger holds costs nothing)")
        for item in self.calls:
            price = "price unknown" if item.cost_usd is None else f"${item.cost_usd:.2f}"
            basis = "measured" if item.measured else "rough"
            lines.append(
                f"  {item.stage:<21} {item.provider}/{item.model}: {item.calls} calls,"
                f" {item.input_tokens:,} + {item.output_tokens:,} tokens, {price} ({basis})"
            )
        known = [item.cost_usd for item in self.calls if item.cost_usd is not None]
        tokens = sum(item.input_tokens + item.output_tokens for item in self.calls)
        unpriced = " and what has no price" if len(known) < len(self.calls) else ""
        lines.append(
            f"  in all {sum(item.calls for item in self.calls)} calls, {tokens:,} tokens,"
            f" ${sum(known):.2f}{unpriced}"
        )
        lines += [f"  assumes: {item}" for item in self.assumptions]
        return "\n".join(lines)


def plan_run(settings: Settings, flow: str) -> Plan:
    """The plan of a run; changes nothing and uses neither browser nor model.

    Raises:
        CommandError: no requested application is installed, or one is unknown.
        WarehouseError: the run is a night, and its warehouse cannot be read.
    """
    chosen, missing = choose_applications(settings)
    night = plan_night(settings, chosen) if settings.nights.enabled and flow == "build_dataset" else None
    applications = (
        chosen if night is None else {name: item for name, item in chosen.items() if name in night.explored}
    )
    wanted = settings.exploration.subtasks_per_application
    proposals = _proposals(settings)
    expected = round(_ROUGH_PROPOSALS if proposals is None else proposals)
    per_application = []
    for item in applications.values():
        usable = sum(subtask.core or not settings.exploration.core_only for subtask in item.example_subtasks)
        per_application.append(min(usable if item.example_subtasks else expected, wanted))
    subtasks = sum(per_application) if flow != "compose_tasks" else 0
    tasks = settings.composition.wanted if flow in ("build_dataset", "compose_tasks") else 0
    tasks = tasks if night is None else night.tasks
    curated = any(item.example_subtasks for item in applications.values())
    rough = _ROUGH_TASKS if curated else min(_ROUGH_TASKS, _ROUGH_LINKS * subtasks)
    averages, counts = _statistics(settings)
    made, functions = (counts.get(role, 0) for role in (ModelRole.SUMMARIZER, ModelRole.EVALUATION_WRITER))
    per_subtask = made / functions if made and functions else rough
    composed = min(tasks, round(subtasks * per_subtask)) if subtasks and night is None else tasks
    verified = flow in ("build_dataset", "verify_subtasks")
    intent_calls = -(-settings.intents.wanted // settings.intents.per_call) + BARREN_CALLS
    if ModelRole.INTENT_EXTRACTOR in averages:
        intent_calls = 1  # the pool counts as one item, with the ledger's average calls
    items = {
        ModelRole.EXPLORER: len(applications) if subtasks else 0,
        ModelRole.ACTOR: subtasks * settings.verification.parameter_sets if verified else 0,
        ModelRole.EVALUATION_WRITER: subtasks if verified else 0,
        ModelRole.INTENT_EXTRACTOR: intent_calls if tasks else 0,
        ModelRole.SUMMARIZER: composed,
        ModelRole.DEPENDENCY_JUDGE: composed,
        ModelRole.CRITIC: (
            0 if settings.is_offline(ModelRole.CRITIC) else round(composed * settings.critic.share)
        ),
    }
    assumptions = _assumptions(
        settings, applications, proposals, verified=verified, scored=items[ModelRole.CRITIC]
    )
    if composed < tasks:
        assumptions.append(f"{composed} of {tasks} tasks: subtasks give about {per_subtask:.1f} each")
    return Plan(
        flow=flow,
        applications=tuple(chosen),
        missing=missing,
        night=night,
        environments=settings.first_environments,
        subtasks=subtasks,
        tasks=tasks,
        calls=tuple(
            _estimate(settings, role, count, averages.get(role)) for role, count in items.items() if count
        ),
        assumptions=tuple(assumptions),
    )


def _assumptions(
    settings: Settings,
    applications: Mapping[str, Application],
    proposals: float | None,
    *,
    verified: bool,
    scored: int,
) -> list[str]:
    wanted = settings.exploration.subtasks_per_application
    uncurated = [name for name, item in applications.items() if not item.example_subtasks]
    assumptions = ["all input at the full price: what providers serve from their cache costs less"]
    if verified:
        assumptions.append(
            f"{settings.verification.parameter_sets} parameter sets a subtask; measured calls per set include"
            " those performed again"
        )
    self_critic = settings.same_model(ModelRole.SUMMARIZER, ModelRole.CRITIC)
    if self_critic and scored:
        assumptions.append(
            f"{self_critic} may be the critic of instructions that it wrote itself; a model of another maker"
            " is fairer"
        )
    if uncurated:
        number = round(_ROUGH_PROPOSALS if proposals is None else proposals)
        basis = "a rough figure" if proposals is None else "as many as earlier explorations brought"
        assumptions.append(
            f"{min(number, wanted)} subtasks in each application without curated ones"
            f" ({', '.join(uncurated)}): {basis}"
        )
    return assumptions


def _estimate(settings: Settings, role: ModelRole, items: int, known: _Averages | None) -> PlannedCalls:
    calls = settings.models
    model = calls.role(role).model
    stage, rough = _ROUGH_AVERAGES[role]
    average = known or rough
    count = max(1, round(items * average.calls_per_item))
    price = prices_of(model)
    cost = None
    if settings.is_offline(role):
        cost = 0.0
    elif price is not None:
        batched = price.batch_factor if calls.batch is not None and calls.batched(role) else 1.0
        cost = (
            count
            * (average.input_tokens * price.input + average.output_tokens * price.output)
            / 1e6
            * batched
        )
    return PlannedCalls(
        stage=stage,
        role=role.value,
        provider=model.provider,
        model=model.model,
        calls=count,
        input_tokens=round(count * average.input_tokens),
        output_tokens=round(count * average.output_tokens),
        cost_usd=cost,
        measured=known is not None,
    )


def _proposals(settings: Settings) -> float | None:
    """Subtasks performed per application explored by a model, over the whole ledger; None if none were."""
    rows = _query_ledger(
        settings,
        "SELECT DISTINCT role, item_id FROM calls WHERE outcome = 'answered' AND role IN ('explorer',"
        " 'actor')",
    )
    explored = {str(item) for role, item in rows if role == ModelRole.EXPLORER.value}
    performed = {str(item).partition(":")[0] for role, item in rows if role == ModelRole.ACTOR.value}
    of_these = {name for name in performed if name.partition(".")[0] in explored}
    return len(of_these) / len(explored) if of_these else None


def _statistics(settings: Settings) -> tuple[dict[ModelRole, _Averages], dict[ModelRole, int]]:
    """Average usage of calls by role, and the number of items, over the whole ledger; the intents of a run
    count as one item."""
    rows = _query_ledger(
        settings,
        "SELECT role, COUNT(DISTINCT item_id), COUNT(*) * 1.0 / COUNT(DISTINCT item_id), AVG(input_tokens),"
        " AVG(output_tokens) FROM calls WHERE outcome = 'answered' GROUP BY role",
    )
    averages = {
        ModelRole(str(role)): _Averages(*(float(str(value)) for value in values)) for role, _, *values in rows
    }
    return averages, {ModelRole(str(role)): int(str(items)) for role, items, *_ in rows}


def _query_ledger(settings: Settings, query: str) -> Sequence[tuple[object, ...]]:
    """The rows of a query on the ledger; empty if there is no ledger."""
    path = settings.data / "ledger.sqlite"
    if not path.exists():
        return ()
    with Ledger(path) as ledger:
        return ledger.select(query)
