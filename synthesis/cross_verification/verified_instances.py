"""Which instances of a subtask are performed and verified, and which follow from those."""

from collections.abc import Iterator, Mapping, Sequence

from taskloom.resources.applications import Application
from taskloom.resources.categories import ResourceCategory
from taskloom.resources.reading.catalog_checks import fixtures_of
from taskloom.resources.reading.translation import applications_in, parameters_in, worlds_of
from taskloom.resources.worlds import FIRST_WORLD
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.taskgraph.errors import ParameterInvalidError
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask, stem_of


def instances_to_verify(
    subtask: Subtask,
    applications: Mapping[str, Application],
    categories: Mapping[str, ResourceCategory],
    count: int,
) -> list[BoundSubtask]:
    """The `count` instances that are performed: the first in the first world, the second in the world that
    comes next.

    In the second world one is chosen whose inputs exist there at reset, if there is any.
    """
    sets = subtask.available_parameters[:count]
    worlds = worlds_of(applications)
    instances = [subtask.bind(parameters, categories) for parameters in sets]
    if len(worlds) == 1 or count == 1 or not applications[subtask.application].has_worlds:
        return instances
    elsewhere = _instance_elsewhere(subtask, applications, categories, worlds[1])
    return [instances[0], elsewhere, *instances[2:]] if instances else [elsewhere]


def _instance_elsewhere(
    subtask: Subtask,
    applications: Mapping[str, Application],
    categories: Mapping[str, ResourceCategory],
    world: str,
) -> BoundSubtask:
    sets = subtask.available_parameters or ({},)
    candidates = [
        subtask.bind(parameters_in(applications, values, world), categories, world)
        for values in (*sets[1:], sets[0])
    ]
    application = applications_in(applications, world)[subtask.application]
    existing = set(fixtures_of(application, categories))
    for candidate in candidates:
        if all(item.slot is not None or item in existing for item in candidate.inputs):
            return candidate
    return candidates[0]


def instances_in_worlds(
    verified: VerifiedSubtask,
    applications: Mapping[str, Application],
    categories: Mapping[str, ResourceCategory],
) -> tuple[BoundSubtask, ...]:
    """The verified instances, and for a subtask verified in at least two worlds all that follow from them.

    Further instances have the values of the catalogue, or those it was verified with, in every world. They
    are left out where the verified trajectories differ by more than their values.
    """
    recorded = verified.instances(categories)
    if len(verified.worlds) < 2 or verified.subtask.application not in applications:
        return recorded
    found = {item.instance_id: item for item in recorded}
    for instance in _further(verified, recorded, applications, categories):
        found.setdefault(instance.instance_id, instance)
    first = next((item for name, item in found.items() if verified.trajectory(name) is None), None)
    # Whether the trajectories agree does not depend on the new values, so one instance stands for all.
    return recorded if first is not None and verified.performance(first) is None else tuple(found.values())


def _further(
    verified: VerifiedSubtask,
    recorded: Sequence[BoundSubtask],
    applications: Mapping[str, Application],
    categories: Mapping[str, ResourceCategory],
) -> Iterator[BoundSubtask]:
    subtask = verified.subtask
    name = stem_of(subtask.template.name)
    curated = [item for item in applications[subtask.application].example_subtasks if item.name == name]
    sets: Sequence[Mapping[str, str]] = (
        curated[0].parameter_sets
        if curated and subtask.origin == "curated"
        else [item.parameters for item in recorded if item.world == FIRST_WORLD]
    )
    for world in worlds_of(applications):
        for values in sets:
            try:
                yield subtask.bind(parameters_in(applications, values, world), categories, world)
            except ParameterInvalidError:
                continue
