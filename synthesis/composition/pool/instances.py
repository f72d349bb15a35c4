"""The bound subtasks of a pool, numbered, with what composition needs to know of each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_

from taskloom.resources.applications import Application
from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.resources.errors import UnknownCatalogEntryError
from taskloom.resources.instances import Resource
from taskloom.resources.reading.catalog_links import fixtures_of
from taskloom.synthesis.composition.pool.sense import Sense
from taskloom.taskgraph.bitmasks import bits
from taskloom.taskgraph.errors import ParameterInvalidError
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask, stem_of


@dataclass(frozen=True, slots=True)
class Need:
    """One input of an instance."""

    resource: Resource
    producers: int
    fixture: bool
    """Whether it exists at reset anyway."""


@dataclass(slots=True)
class Instance:
    """A bound subtask with every slot bound to one document, and what composition needs to know of it."""

    number: int
    node: BoundSubtask
    """The subtask; slots without a document carry that of their producer."""
    template: int
    application_category: int
    needs: tuple[Need, ...]
    clashes: int
    """Instances that cannot be in one task with it."""
    sources: int = field(init=False)
    """Instances that write something it reads."""
    required: tuple[int, ...] = field(init=False)
    """Per input that is no fixture, the instances that write it."""

    def __post_init__(self) -> None:
        """Gather what the needs say."""
        self.sources = reduce(or_, (need.producers for need in self.needs), 0)
        self.required = tuple(need.producers for need in self.needs if not need.fixture)


def sensible(instances: Sequence[Instance], sense: Sense) -> list[Instance]:
    """The instances, with those excluded from each other that make no sense together.

    These are a producer and a consumer where the one's work is lost on the other, and two instances of one
    subtask, or two that make the same kind of thing, with the same object, which is what they read first:
    nobody exports one table twice, attaches one file to two pages or packs it into two archives. What one
    subtask moves, renames or deletes no other one reads beside it: no dependency would say which comes first.
    Nor does one read the file of which another one makes a new version.
    """
    excluded = [0] * len(instances)

    def exclude(one: int, other: int) -> None:
        excluded[one] |= 1 << other
        excluded[other] |= 1 << one

    alike: dict[tuple[int | str, Resource], int] = {}
    for instance in instances:
        for producer in bits(instance.sources):
            if sense.is_lost_work(instances[producer].node, instance.node):
                exclude(producer, instance.number)
        if instance.needs:
            made = {item.category for item in instance.node.outputs if item.slot is None}
            kinds: list[int | str] = [instance.template, *sorted(made)]
            for kind in kinds:
                key = (kind, instance.needs[0].resource)
                for other in bits(alike.get(key, 0)):
                    exclude(other, instance.number)
                alike[key] = alike.get(key, 0) | 1 << instance.number
    for taker, reader in _takers_beside_readers(instances, sense):
        exclude(taker, reader)
    for instance in instances:
        unwanted = sense.not_with.get(instance.node.subtask_id, ())
        for rival in instances if unwanted else ():
            if rival is not instance and stem_of(rival.node.subtask_id) in unwanted:
                exclude(instance.number, rival.number)
    return [
        replace(
            instance,
            clashes=instance.clashes | rivals,
            needs=tuple(replace(need, producers=need.producers & ~rivals) for need in instance.needs),
        )
        for instance, rivals in zip(instances, excluded, strict=True)
    ]


def _takers_beside_readers(instances: Sequence[Instance], sense: Sense) -> list[tuple[int, int]]:
    """Instances that take a file or record away or make a new version of a file, each with another one that
    reads it."""
    readers: dict[tuple[str, Resource], list[int]] = {}
    for instance in instances:
        for resource in set(instance.node.inputs):
            if resource.slot is None:
                readers.setdefault((instance.node.world, resource), []).append(instance.number)
    return [
        (taker.number, reader)
        for taker in instances
        for resource in (set(taker.node.consumed) - set(taker.node.outputs)) | _revised(taker.node, sense)
        for reader in readers.get((taker.node.world, resource), ())
        if reader != taker.number
    ]


def _revised(node: BoundSubtask, sense: Sense) -> set[Resource]:
    """Files that a subtask reads and makes another one of the same kind from; also one in another format of
    the same thing, where a value of its own goes into it."""
    made = {resource.category for resource in node.outputs if resource.kind is ResourceKind.FILE}
    if set(node.parameters.values()) - {resource.value for resource in (*node.inputs, *node.outputs)}:
        made = made.union(*(sense.formats.get(category, ()) for category in made))
    return {
        resource
        for resource in node.inputs
        if resource.kind is ResourceKind.FILE and resource.category in made and resource not in node.outputs
    }


def fixtures_at_reset(
    applications: Iterable[Application], categories: Mapping[str, ResourceCategory]
) -> dict[str, frozenset[Resource]]:
    """Files and records that exist after a reset, by application."""
    return {application.name: frozenset(fixtures_of(application, categories)) for application in applications}


def bind_pool(
    subtasks: Sequence[Subtask], categories: Mapping[str, ResourceCategory]
) -> tuple[list[BoundSubtask], list[str]]:
    """Every subtask bound to its parameter sets, and a message for each that cannot be bound."""
    nodes: dict[str, BoundSubtask] = {}
    problems: list[str] = []
    for subtask in subtasks:
        for parameters in subtask.available_parameters or ({},):
            try:
                node = subtask.bind(parameters, categories)
                nodes[node.instance_id] = node
            except (ParameterInvalidError, UnknownCatalogEntryError) as error:
                problems.append(f"{subtask.subtask_id}: {error}")
    return list(nodes.values()), problems
