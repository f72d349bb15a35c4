"""The numbered bound subtasks of a pool, with what composition needs to know about them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

from taskloom.resources.applications import Application
from taskloom.resources.categories import ResourceCategory
from taskloom.resources.errors import UnknownCatalogEntryError
from taskloom.resources.instances import Resource
from taskloom.resources.reading.catalog_checks import fixtures_of
from taskloom.taskgraph.errors import ParameterInvalidError
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask


@dataclass(frozen=True, slots=True)
class Need:
    """One input of an instance."""

    resource: Resource
    producers: int
    fixture: bool
    """Whether resets provide it."""


@dataclass(slots=True)
class Instance:
    """A bound subtask with every slot bound to one document, its inputs and its clashes."""

    number: int
    node: BoundSubtask
    """The subtask; slots without a document carry that of their producer."""
    template: int
    application_category: int
    needs: tuple[Need, ...]
    clashes: int
    """Instances that cannot be in one task with it."""
    sources: int = field(init=False)
    """Instances that write one of its inputs."""
    required: tuple[int, ...] = field(init=False)
    """The instances that write each non-fixture input."""

    def __post_init__(self) -> None:
        """Derive the sources and the required producers."""
        self.sources = reduce(or_, (need.producers for need in self.needs), 0)
        self.required = tuple(need.producers for need in self.needs if not need.fixture)


def fixtures_at_reset(
    applications: Iterable[Application], categories: Mapping[str, ResourceCategory]
) -> dict[str, frozenset[Resource]]:
    """Files and records that exist after a reset, by application."""
    return {application.name: frozenset(fixtures_of(application, categories)) for application in applications}


def bind_pool(
    subtasks: Sequence[Subtask], categories: Mapping[str, ResourceCategory]
) -> tuple[list[BoundSubtask], list[str]]:
    """Bind every subtask to its parameter sets; also returns a message for each that cannot be bound."""
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
