"""Which applications a run explores, and why; and what the dataset still lacks of a request for tasks."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version as distribution_version

from taskloom.flows.pool import wishes_of
from taskloom.flows.settings import Settings
from taskloom.flows.wiring import Run, catalogue
from taskloom.prompts.rendering import template_hash
from taskloom.resources.applications import Application
from taskloom.resources.assets import content_of
from taskloom.resources.dimensions import DIMENSIONS, TABLE, Cell
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.warehouse.records import ExplorationChoice
from taskloom.warehouse.store import Warehouse

STAGE = "exploration"


def choice_for(run: Run, name: str) -> ExplorationChoice:
    """Whether `run` explores the application `name`, and why; a resumed run keeps its choice."""
    choice_id = f"{run.run_id}/{name}"
    for choice in run.warehouse.read(ExplorationChoice, "choice_id = ?", [choice_id]):
        return choice.model_copy(update={"complete": False})
    fingerprint = fingerprint_of(
        catalogue(run.settings)[name], run.settings, wishes_of(run.warehouse, run.run_id, name)
    )
    explored, reason = True, "this run is not a night, so it explores every application"
    if run.settings.nights.enabled:
        explored, reason = night_choice(run.warehouse, name, fingerprint, run.run_id)
    return ExplorationChoice(
        choice_id=choice_id,
        application=name,
        explored=explored,
        reason=reason,
        fingerprint=fingerprint,
        provenance=run.provenance(STAGE),
    )


def night_choice(warehouse: Warehouse, name: str, now: dict[str, str], run_id: str = "") -> tuple[bool, str]:
    """Whether the night `run_id` explores an application that has the fingerprint `now`, and why."""
    earlier = list(
        warehouse.read(
            ExplorationChoice,
            "application = ? AND explored AND complete AND run_id <> ?",
            [name, run_id],
            order_by="run_id",
        )
    )
    if not earlier:
        return True, "it is new: no run has explored it to the end"
    last = earlier[-1]
    reasons = describe_changes(last.fingerprint, now)
    last_run = last.provenance.run_id
    lost = warehouse.query(
        "SELECT count(*) FROM rechecks WHERE outcome = 'retired' AND starts_with(subtask_id, ?) AND"
        " run_id > ?",
        [f"{name}.", last_run],
    ).scalar()
    if lost:
        reasons.append(f"{lost} of its subtasks no longer replay")
    if reasons:
        return True, f"since run {last_run}: {', '.join(reasons)}"
    return False, f"nothing that it depends on changed since run {last_run}"


_ROLES = (ModelRole.EXPLORER, ModelRole.ACTOR, ModelRole.EVALUATION_WRITER)
"""Roles that add subtasks to the pool."""
SHORTAGE = "shortage"
"""What composition lacked; it is part of a fingerprint only if something was lacking."""


def fingerprint_of(
    application: Application, settings: Settings, wishes: Sequence[str] = ()
) -> dict[str, str]:
    """What an exploration of `application` depends on: the content or hash of each part, by name."""
    entry = application.model_dump(mode="json", exclude={"manual", "version"})
    contents = [content_of(item.content, application) for item in application.fixtures if item.content]
    roles = [role for role in _ROLES if not settings.is_offline(role)]
    templates = {role.value for role in roles}
    if ModelRole.ACTOR in roles:
        templates.add("computer_actor")
    rules = [] if len(roles) == len(_ROLES) else [f"rules of taskloom {distribution_version('taskloom')}"]
    models = [settings.models.role(role).model for role in roles]
    fingerprint = {
        "version": application.version,
        "manual": _hash(application.manual),
        "catalogue entry": _hash([entry, [hashlib.sha256(content).hexdigest() for content in contents]]),
        "prompts": _hash({name: template_hash(name) for name in sorted(templates)}),
        "models": ", ".join(dict.fromkeys([*(f"{item.provider}/{item.model}" for item in models), *rules])),
        "settings": _hash(
            [
                settings.exploration.model_dump(mode="json"),
                settings.verification.model_dump(mode="json"),
                settings.worlds,
            ]
        ),
    }
    if wishes and settings.nights.explore_for_shortage and ModelRole.EXPLORER in roles:
        fingerprint[SHORTAGE] = _hash(sorted(wishes))
    return fingerprint


def describe_changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The differences between two fingerprints, in words; a shortage that has ended is not a change.

    >>> describe_changes({"version": "1", "manual": "a"}, {"version": "2", "manual": "b"})
    ['version 1 became 2', 'another manual']
    """
    differences = []
    for name in dict.fromkeys([*now, *before]):
        if before.get(name) == now.get(name) or (name == SHORTAGE and name not in now):
            continue
        if name in ("version", "models"):
            differences.append(f"{name} {before.get(name, 'unknown')} became {now.get(name, 'unknown')}")
        elif name == SHORTAGE:
            differences.append("composition is short of something else")
        else:
            differences.append(f"other {name}" if name.endswith("s") else f"another {name}")
    return differences


def _hash(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:16]


_LEVEL_COLUMNS = ", ".join(f"{row.level_column}" for row in TABLE)


def request_for_run(run: Run) -> CompositionRequest | None:
    """What `run` composes; at night, without what the dataset already holds. None if nothing."""
    request = run.settings.composition
    if not run.settings.nights.enabled:
        return request
    return remaining_request(request, cells_held(run.warehouse, run.run_id))


def cells_held(warehouse: Warehouse, run_id: str) -> list[Cell]:
    """The levels of every validated task of runs other than `run_id`, in the order of the dimensions."""
    sql = f"SELECT {_LEVEL_COLUMNS} FROM tasks WHERE status = 'validated' AND run_id <> ?"  # noqa: S608 - columns of ours
    rows = warehouse.query(sql, [run_id]).table.to_pylist()
    return [tuple(row[item.level_column] for item in TABLE) for row in rows]


def remaining_request(request: CompositionRequest, held: Iterable[Cell]) -> CompositionRequest | None:
    """The request without the cells `held` already; None if nothing is lacking.

    A task counts towards the first quota that allows it and is not yet full. With quotas per level, every
    dimension gets as many tasks as the one that lacks the most; extra tasks of a dimension go to its levels
    in turn, starting with those with the largest quota.
    """
    cells = list(held)
    if request.quotas:
        return _remaining_quotas(request, cells)
    if request.level_quotas:
        return _remaining_level_quotas(request, cells)
    remaining = request.count - len(cells)
    return request.model_copy(update={"count": remaining}) if remaining > 0 else None


def _remaining_quotas(request: CompositionRequest, cells: list[Cell]) -> CompositionRequest | None:
    remaining = [quota.count for quota in request.quotas]
    for cell in cells:
        for position, quota in enumerate(request.quotas):
            if remaining[position] and quota.levels.allows(cell):
                remaining[position] -= 1
                break
    quotas = tuple(
        quota.model_copy(update={"count": count})
        for quota, count in zip(request.quotas, remaining, strict=True)
        if count
    )
    return request.model_copy(update={"quotas": quotas}) if quotas else None


def _remaining_level_quotas(request: CompositionRequest, cells: list[Cell]) -> CompositionRequest | None:
    lacking = {}
    for dimension, levels in request.level_quotas.items():
        held = Counter(cell[DIMENSIONS.index(dimension)] for cell in cells)
        lacking[dimension] = {level: max(0, count - held[level]) for level, count in levels.items()}
    most = max(sum(levels.values()) for levels in lacking.values())
    if not most:
        return None
    for dimension, levels in lacking.items():
        wanted = sorted(request.level_quotas[dimension].items(), key=lambda item: -item[1])
        for position in range(most - sum(levels.values())):
            levels[wanted[position % len(wanted)][0]] += 1
    return request.model_copy(update={"level_quotas": lacking})
