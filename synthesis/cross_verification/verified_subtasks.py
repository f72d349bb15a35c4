"""Verified subtasks: which instances are performed, and which follow from those."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import product

from taskloom.resources.applications import Application
from taskloom.resources.categories import ResourceCategory
from taskloom.resources.reading.catalog_checks import fixtures_of
from taskloom.resources.reading.translation import applications_in, parameters_in, worlds_of
from taskloom.resources.record import Record
from taskloom.resources.worlds import FIRST_WORLD
from taskloom.synthesis.trajectories.generalisation import performed_with
from taskloom.taskgraph.errors import ParameterInvalidError
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask, stem_of
from taskloom.taskgraph.records.trajectory import Trajectory


class VerifiedSubtask(Record):
    """A subtask with the evaluation function that judges it and a trajectory for each verified instance."""

    subtask: Subtask
    """The subtask; its available parameters are exactly those that were verified."""
    function: EvaluationFunction
    """Its evaluation function."""
    trajectories: tuple[Trajectory, ...]
    """The accepted trajectories: one per parameter set first, then those of other routes."""

    def instances(self, categories: Mapping[str, ResourceCategory]) -> tuple[BoundSubtask, ...]:
        """The subtask bound to each of its verified parameter sets."""
        bound = (self.subtask.bind(item.parameters, categories, item.world) for item in self.trajectories)
        return tuple({item.instance_id: item for item in bound}.values())

    def trajectory(self, instance_id: str) -> Trajectory | None:
        """The accepted trajectory of an instance, or None."""
        return next((item for item in self.trajectories if item.instance_id == instance_id), None)

    def performance(self, instance: BoundSubtask) -> Trajectory | None:
        """How `instance` is performed: its accepted trajectory, or one derived from those of other instances.

        None if the accepted trajectories differ by more than their values, so nothing follows from them.
        """
        recorded = self.trajectory(instance.instance_id)
        return recorded if recorded is not None else performed_with(self.trajectories, instance)

    def tells_how(self, instance: BoundSubtask) -> bool:
        """Whether the accepted trajectories imply how it is done with values such as those of `instance`."""
        return performed_with(self.trajectories, instance) is not None

    @property
    def worlds(self) -> tuple[str, ...]:
        """Worlds it was verified in."""
        return tuple(dict.fromkeys(item.world for item in self.trajectories))


def instances_to_verify(
    subtask: Subtask,
    applications: Mapping[str, Application],
    categories: Mapping[str, ResourceCategory],
    count: int,
) -> list[BoundSubtask]:
    """The `count` instances that are performed: the first in the first world, the second in the next one.

    In the second world, one whose inputs exist there after a reset is preferred.
    """
    sets = subtask.available_parameters[:count]
    worlds = worlds_of(applications)
    instances = [subtask.bind(parameters, categories) for parameters in sets]
    if len(worlds) == 1 or count == 1 or not applications[subtask.application].has_worlds:
        return instances
    sets, world = subtask.available_parameters or ({},), worlds[1]
    candidates = [
        subtask.bind(parameters_in(applications, values, world), categories, world)
        for values in (*sets[1:], sets[0])
    ]
    existing = {*fixtures_of(applications_in(applications, world)[subtask.application], categories)}
    startable = (
        candidate
        for candidate in candidates
        if all(item.slot is not None or item in existing for item in candidate.inputs)
    )
    second = next(startable, candidates[0])
    return [instances[0], second, *instances[2:]] if instances else [second]


def instances_in_worlds(
    verified: VerifiedSubtask,
    applications: Mapping[str, Application],
    categories: Mapping[str, ResourceCategory],
) -> tuple[BoundSubtask, ...]:
    """The verified instances; if they are of at least two worlds, also all that follow from them.

    Further instances have the values of the catalogue, or those verified, in every world. They are left out
    if the verified trajectories differ by more than their values.
    """
    recorded = verified.instances(categories)
    if len(verified.worlds) < 2 or verified.subtask.application not in applications:
        return recorded
    subtask = verified.subtask
    name = stem_of(subtask.template.name)
    curated = [item for item in applications[subtask.application].example_subtasks if item.name == name]
    sets: Sequence[Mapping[str, str]] = (
        curated[0].parameter_sets
        if curated and subtask.origin == "curated"
        else [item.parameters for item in recorded if item.world == FIRST_WORLD]
    )
    found = {item.instance_id: item for item in recorded}
    for world, values in product(worlds_of(applications), sets):
        with suppress(ParameterInvalidError):
            instance = subtask.bind(parameters_in(applications, values, world), categories, world)
            found.setdefault(instance.instance_id, instance)
    other = next((item for name, item in found.items() if verified.trajectory(name) is None), None)
    # Whether the trajectories agree does not depend on the new values, so one instance stands for all.
    return recorded if other is not None and verified.performance(other) is None else tuple(found.values())
