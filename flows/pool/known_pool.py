"""Verified subtasks of earlier runs, read from the warehouse and reused if nothing has changed."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from taskloom.evaluators_api.interpreter.static_analysis import analyse
from taskloom.resources.applications import Application
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.synthesis.trajectories.settled_ends import unsettled
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.store import Warehouse

_ACCEPTED = (
    "trajectory_id IN (SELECT v.trajectory_id FROM verifications v JOIN evaluation_functions f"
    " ON f.function_id = v.function_id AND f.accepted WHERE v.accepted)"
)
"""Performances that the function which counts now accepts; what an earlier one accepted proves nothing of
it."""
_LOG = logging.getLogger(__name__)
_SET_ASIDE = (
    "termination = 'finished' AND trajectory_id NOT IN (SELECT trajectory_id FROM verifications WHERE"
    " accepted) AND subtask_id IN (SELECT subtask_id FROM evaluation_functions WHERE accepted)"
)


def load_verified(
    warehouse: Warehouse, applications: Mapping[str, Application]
) -> dict[str, VerifiedSubtask]:
    """Verified subtasks of `applications` by id; those verified with another version, or whose function
    static analysis no longer admits, are left out and must be verified again."""
    same = {
        stored.name
        for stored in warehouse.read(Application)
        if stored.name in applications and stored.version == applications[stored.name].version
    }
    functions = {item.subtask_id: item for item in _admitted(warehouse.read(EvaluationFunction, "accepted"))}
    trajectories: dict[str, list[Trajectory]] = {}
    for trajectory in warehouse.read(Trajectory, _ACCEPTED):
        trajectories.setdefault(trajectory.subtask_id, []).append(trajectory)
    found = {}
    for subtask in warehouse.read(Subtask):
        function = functions.get(subtask.subtask_id)
        performed = trajectories.get(subtask.subtask_id, [])
        if subtask.application not in same or function is None or not performed:
            continue
        order = subtask.available_parameters
        wanted = _first_of_each([item for item in performed if item.parameters in order], order)
        if len({item.instance_id for item in wanted}) == len(order):
            found[subtask.subtask_id] = VerifiedSubtask(
                subtask=subtask, function=function, trajectories=tuple(wanted)
            )
    return found


def _admitted(functions: Iterable[EvaluationFunction]) -> list[EvaluationFunction]:
    """Those of `functions` that static analysis admits as it is now."""
    found: list[EvaluationFunction] = []
    refused: list[EvaluationFunction] = []
    for function in functions:
        problems = analyse(function.source, function.parameter_names).problems
        (refused if problems else found).append(function)
    if refused:
        _LOG.warning(
            "%d accepted functions are no longer admitted, such as by checks that are gone, so their subtasks"
            " count as unverified until taskloom build verifies them again: %s",
            len(refused),
            ", ".join(sorted(item.subtask_id for item in refused)),
        )
    return found


def _first_of_each(
    trajectories: Sequence[Trajectory], order: Sequence[Mapping[str, str]]
) -> list[Trajectory]:
    """One trajectory per parameter set in their order, the earliest of each, then the others."""
    trajectories = sorted(trajectories, key=lambda item: (order.index(item.parameters), item.attempt))
    first = {item.instance_id: item for item in reversed(trajectories)}
    return sorted(trajectories, key=lambda item: item is not first[item.instance_id])


def load_set_aside(warehouse: Warehouse) -> dict[str, tuple[Trajectory, ...]]:
    """Performances of verified subtasks that ended settled but were set aside, by attempt;
    other subtasks were held against the first performance of each, so they are again."""
    found: dict[str, list[Trajectory]] = {}
    for trajectory in warehouse.read(Trajectory, _SET_ASIDE):
        if not unsettled(trajectory):
            found.setdefault(trajectory.subtask_id, []).append(trajectory)
    return {name: tuple(sorted(items, key=lambda item: item.attempt)) for name, items in found.items()}
