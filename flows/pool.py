"""What the warehouse holds from earlier runs: verified subtasks, reused if nothing has changed; and, for
exploration, subtasks, screens, categories and shortages."""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import count
from pathlib import Path

from taskloom.evaluators_api.interpreter.static_analysis import analyse
from taskloom.resources.applications import Application
from taskloom.resources.categories import ResourceCategory
from taskloom.resources.reading.catalog import load_resource_categories
from taskloom.synthesis.cross_verification.performances import TriedBefore
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.synthesis.exploration.memory import ExplorationMemory
from taskloom.synthesis.trajectories.settled_ends import unsettled
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.exploration import ProposedCategory, SeenScreen
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask, stem_of
from taskloom.taskgraph.records.task import Rejection
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.store import Warehouse

_LOG = logging.getLogger(__name__)
MISSING_LINK, NOT_COMPOSED = "missing_link", "not_composed"
"""Reasons for composition shortages: subtasks of one application, tasks for an intent."""
_MOST_WISHES = 5
_IDENTITY_FIELDS = ("instruction_template", "inputs", "outputs")
"""Fields whose change makes a subtask a different one."""
_IS_UNDECIDED = (
    "application = ? AND origin <> 'curated'"
    " AND subtask_id NOT IN (SELECT subtask_id FROM evaluation_functions)"
    " AND NOT EXISTS (SELECT 1 FROM rejections AS r WHERE r.item_kind = 'subtask'"
    " AND r.item_id = subtasks.subtask_id AND r.run_id >= subtasks.run_id)"
)
_IS_REJECTED = (
    "origin <> 'curated'"
    " AND subtask_id NOT IN (SELECT subtask_id FROM evaluation_functions WHERE accepted)"
    " AND subtask_id IN (SELECT item_id FROM rejections WHERE item_kind = 'subtask')"
)
_REJECTED_BY_RUN = "item_kind = 'subtask' AND run_id = ?"
_PERFORMANCE_COUNTS = (
    "SELECT subtask_id, instance_id, max(attempt) + 1 FROM trajectories WHERE run_id <> ?"
    " GROUP BY subtask_id, instance_id"
)
_FUNCTION_COUNTS = (
    "SELECT subtask_id, subtask_id, count(*) FROM evaluation_functions WHERE run_id <> ? GROUP BY subtask_id"
)
_IS_ACCEPTED = (
    "trajectory_id IN (SELECT v.trajectory_id FROM verifications v JOIN evaluation_functions f"
    " ON f.function_id = v.function_id AND f.accepted WHERE v.accepted)"
)
"""Performances that the current function accepts; those accepted by an earlier function prove nothing about
it."""
_IS_SET_ASIDE = (
    "termination = 'finished' AND trajectory_id NOT IN (SELECT trajectory_id FROM verifications WHERE"
    " accepted) AND subtask_id IN (SELECT subtask_id FROM evaluation_functions WHERE accepted)"
)


def load_verified(
    warehouse: Warehouse, applications: Mapping[str, Application]
) -> dict[str, VerifiedSubtask]:
    """Verified subtasks of `applications` by id, without those verified with another version or whose
    function static analysis no longer admits; they must be verified again."""
    unchanged = {
        stored.name
        for stored in warehouse.read(Application)
        if stored.name in applications and stored.version == applications[stored.name].version
    }
    accepted = warehouse.read(EvaluationFunction, "accepted")
    functions = {item.subtask_id: item for item in _admissible(accepted)}
    trajectories: dict[str, list[Trajectory]] = {}
    for trajectory in warehouse.read(Trajectory, _IS_ACCEPTED):
        trajectories.setdefault(trajectory.subtask_id, []).append(trajectory)
    verified = {}
    for subtask in warehouse.read(Subtask):
        function = functions.get(subtask.subtask_id)
        performed = trajectories.get(subtask.subtask_id, [])
        if subtask.application not in unchanged or function is None or not performed:
            continue
        order = subtask.available_parameters
        performances = _first_of_each([item for item in performed if item.parameters in order], order)
        if len({item.instance_id for item in performances}) == len(order):
            verified[subtask.subtask_id] = VerifiedSubtask(
                subtask=subtask, function=function, trajectories=tuple(performances)
            )
    return verified


def _admissible(functions: Iterable[EvaluationFunction]) -> list[EvaluationFunction]:
    """Those of `functions` that the current static analysis admits."""
    admitted: list[EvaluationFunction] = []
    refused: list[EvaluationFunction] = []
    for function in functions:
        problems = analyse(function.source, function.parameter_names).problems
        (refused if problems else admitted).append(function)
    if refused:
        _LOG.warning(
            "%d accepted functions are no longer admitted, for example because a check was removed, so their"
            " subtasks count as unverified until taskloom build verifies them again: %s",
            len(refused),
            ", ".join(sorted(item.subtask_id for item in refused)),
        )
    return admitted


def _first_of_each(
    trajectories: Sequence[Trajectory], order: Sequence[Mapping[str, str]]
) -> list[Trajectory]:
    """The earliest trajectory of each parameter set, in the order of the sets, then the others."""
    trajectories = sorted(trajectories, key=lambda item: (order.index(item.parameters), item.attempt))
    first = {item.instance_id: item for item in reversed(trajectories)}
    return sorted(trajectories, key=lambda item: item is not first[item.instance_id])


def load_set_aside(warehouse: Warehouse) -> dict[str, tuple[Trajectory, ...]]:
    """Performances of verified subtasks that ended settled but were set aside, by attempt; other subtasks
    were checked against the first performance of each, and will be again."""
    trajectories: dict[str, list[Trajectory]] = {}
    for trajectory in warehouse.read(Trajectory, _IS_SET_ASIDE):
        if not unsettled(trajectory):
            trajectories.setdefault(trajectory.subtask_id, []).append(trajectory)
    return {name: tuple(sorted(items, key=lambda item: item.attempt)) for name, items in trajectories.items()}


def known_categories(catalog: Path | None, warehouse: Warehouse) -> dict[str, ResourceCategory]:
    """The categories of the catalogue, and those that models proposed; the catalogue takes precedence."""
    proposed = {item.name: item.category for item in warehouse.read(ProposedCategory)}
    return {**proposed, **load_resource_categories(catalog)}


def exploration_memory(
    warehouse: Warehouse,
    application: Application,
    known: Iterable[VerifiedSubtask],
    run_id: str,
    patterns: Sequence[str] = (),
) -> ExplorationMemory:
    """What runs other than `run_id` found for `application`, so that a resumed run asks the same questions;
    rejected proposals that match `patterns` count as undecided."""
    name = application.name
    verified = tuple(
        item.subtask
        for item in known
        if item.subtask.application == name
        and item.subtask.origin != "curated"
        and item.subtask.provenance.run_id != run_id
    )
    verified_ids = {item.subtask_id for item in verified}
    undecided = {
        item.subtask_id: item
        for item in undecided_proposals(warehouse, name, verified_ids)
        if item.provenance.run_id != run_id
    }
    undecided |= {
        item.subtask_id: item
        for item in proposals_to_try_again(warehouse, name, patterns, run_id="")
        if item.subtask_id not in verified_ids
    }
    rejected = warehouse.read(
        Rejection,
        "item_kind = 'subtask' AND starts_with(item_id, ?) AND run_id <> ?",
        [f"{name}.", run_id],
    )
    screens = tuple(
        warehouse.read(SeenScreen, "application = ? AND version = ?", [name, application.version])
    )
    return ExplorationMemory(
        verified=verified,
        undecided=tuple(item for _, item in sorted(undecided.items())),
        rejected=tuple(item for item in rejected if item.item_id not in verified_ids | undecided.keys()),
        screens=screens,
        walked=any(item.provenance.run_id == run_id for item in screens),
        wishes=wishes_of(warehouse, run_id, name),
    )


def undecided_proposals(warehouse: Warehouse, application: str, verified: Container[str]) -> list[Subtask]:
    """Proposals for `application` that no run has since verified or rejected, by id."""
    proposals = warehouse.read(Subtask, _IS_UNDECIDED, [application], order_by="subtask_id")
    return [item for item in proposals if item.subtask_id not in verified]


def rejected_proposals(warehouse: Warehouse) -> tuple[str, ...]:
    """Ids of the proposals that were rejected and not verified since, sorted."""
    return tuple(item.subtask_id for item in warehouse.read(Subtask, _IS_REJECTED, order_by="subtask_id"))


def matches_any(subtask_id: str, patterns: Sequence[str]) -> bool:
    """Whether a subtask id matches one of `patterns`."""
    return any(fnmatchcase(subtask_id, pattern) for pattern in patterns)


def proposals_to_try_again(
    warehouse: Warehouse, application: str, patterns: Sequence[str], run_id: str
) -> list[Subtask]:
    """Rejected proposals for `application` that match `patterns`, except those that `run_id` rejected."""
    if not patterns:
        return []
    rejected_by_run = {item.item_id for item in warehouse.read(Rejection, _REJECTED_BY_RUN, [run_id])}
    return [
        item
        for item in warehouse.read(Subtask, _IS_REJECTED, order_by="subtask_id")
        if item.application == application
        and item.subtask_id not in rejected_by_run
        and matches_any(item.subtask_id, patterns)
    ]


def tried_before(warehouse: Warehouse, patterns: Sequence[str], run_id: str) -> TriedBefore:
    """How often runs other than `run_id` performed and judged the subtasks that match `patterns`."""
    if not patterns:
        return TriedBefore()
    counts = [
        {
            str(name): int(str(times))
            for subtask_id, name, times in warehouse.query(query, [run_id]).rows()
            if matches_any(str(subtask_id), patterns)
        }
        for query in (_PERFORMANCE_COUNTS, _FUNCTION_COUNTS)
    ]
    return TriedBefore(performances=counts[0], functions=counts[1])


def wishes_of(warehouse: Warehouse, run_id: str, application: str) -> tuple[str, ...]:
    """Shortages of the last composition of another run: missing links of `application`, then intents."""
    rows = warehouse.query(
        "SELECT message FROM rejections WHERE item_kind = 'composition' AND run_id = ("
        "SELECT r.run_id FROM rejections AS r JOIN runs USING (run_id) WHERE r.item_kind = 'composition'"
        " AND r.run_id <> $1 ORDER BY runs.started_at DESC LIMIT 1)"
        " AND (reason <> $3 OR starts_with(item_id, $2 || '/'))"
        " ORDER BY reason <> $3, reason <> $4, message",
        [run_id, application, MISSING_LINK, NOT_COMPOSED],
    ).rows()
    return tuple(dict.fromkeys(str(row[0]) for row in rows))[:_MOST_WISHES]


def version_of(
    subtask: Subtask,
    known: Mapping[str, VerifiedSubtask],
    to_verify: Callable[[Subtask], Sequence[BoundSubtask]],
    run_id: str,
) -> tuple[Subtask, VerifiedSubtask | None]:
    """`subtask` under its id in the pool, and the verified subtask that equals it, if any.

    The id of a verified subtask never denotes another one: a changed subtask is a new version, `<id>_v2` and
    so on. A version that the run itself verified is the result for the subtask.
    """
    stem = stem_of(subtask.subtask_id)
    versions = {name: item for name, item in known.items() if stem_of(name) == stem}
    for item in versions.values():
        verified = item.subtask
        named = subtask.model_copy(update={"subtask_id": verified.subtask_id})
        performed = {trajectory.instance_id for trajectory in item.trajectories}
        if verified.provenance.run_id == run_id or (
            all(getattr(named, field) == getattr(verified, field) for field in _IDENTITY_FIELDS)
            and performed.issuperset(instance.instance_id for instance in to_verify(named))
        ):
            return verified, item
    if subtask.subtask_id not in versions:
        return subtask, None
    free_id = next(name for number in count(2) if (name := f"{stem}_v{number}") not in versions)
    return subtask.model_copy(update={"subtask_id": free_id}), None
