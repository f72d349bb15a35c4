"""Bound instances of a pool's subtasks, and the fixtures they may rely on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from taskloom.resources.applications import Application
from taskloom.resources.categories import ResourceCategory
from taskloom.resources.errors import UnknownCatalogEntryError
from taskloom.resources.instances import Resource
from taskloom.resources.reading.catalog_links import fixtures_of
from taskloom.taskgraph.errors import ParameterInvalidError
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask


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
            except (ParameterInvalidError, UnknownCatalogEntryError) as error:
                problems.append(f"{subtask.subtask_id}: {error}")
                continue
            nodes[node.instance_id] = node
    return list(nodes.values()), problems
