"""Bound instances of a pool's subtasks, and the fixtures they may rely on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from taskloom.resources.applications import Application
from taskloom.resources.categories import ResourceCategory
from taskloom.resources.errors import UnknownCatalogEntryError
from taskloom.resources.instances import Resource
from taskloom.resources.reading.catalog_links import fixtures_of
from taskloom.synthesis.composition.pool.compiled_pool import Fixtures
from taskloom.taskgraph.errors import ParameterInvalidError
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask

_MAXIMUM_BINDINGS = 24


def fixtures_at_reset(
    applications: Iterable[Application], categories: Mapping[str, ResourceCategory]
) -> dict[str, frozenset[Resource]]:
    """Files and records that exist after a reset, by application."""
    return {application.name: frozenset(fixtures_of(application, categories)) for application in applications}


def bind_pool(
    subtasks: Sequence[Subtask],
    categories: Mapping[str, ResourceCategory],
    *,
    unify: bool = False,
    fixtures: Fixtures | None = None,
) -> tuple[list[BoundSubtask], list[str]]:
    """Every subtask bound to its parameter sets, and a message for each that cannot be bound.

    With `unify`, values also flow between subtasks: a *fresh* parameter of a producer takes the values that
    consumers of its category need, and an input takes the values that producers write or fixtures have. Such
    instances were not verified with these values, so `unify` is for planning and for pools whose evaluation
    functions have been shown to generalise.
    """
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
    if unify:
        known = list(nodes.values())
        for subtask in subtasks:
            for node in _unified(subtask, known, categories, fixtures or {}):
                nodes.setdefault(node.instance_id, node)
    return list(nodes.values()), problems


def _unified(
    subtask: Subtask,
    known: Sequence[BoundSubtask],
    categories: Mapping[str, ResourceCategory],
    fixtures: Fixtures,
) -> list[BoundSubtask]:
    """Further bindings of `subtask` to values of the resources that others need, write, or find at reset."""
    if not subtask.available_parameters:
        return []
    values: dict[str, dict[str, None]] = {
        name: dict.fromkeys(chosen[name] for chosen in subtask.available_parameters)
        for name in subtask.available_parameters[0]
    }
    existing = fixtures.get(subtask.application, frozenset()) | fixtures.get("", frozenset())
    for declaration in subtask.inputs:
        if declaration.parameter in values:
            written = [output for node in known for output in node.outputs]
            _extend(
                values[declaration.parameter],
                declaration.category,
                subtask,
                [*written, *sorted(existing, key=str)],
            )
    for declaration in subtask.outputs:
        if declaration.parameter in subtask.fresh and declaration.parameter in values:
            needed = [needed for node in known for needed in node.inputs]
            _extend(values[declaration.parameter], declaration.category, subtask, needed)
    names = list(values)
    bound = []
    for chosen in product(*(values[name] for name in names)):
        try:
            bound.append(subtask.bind(dict(zip(names, chosen, strict=True)), categories))
        except ParameterInvalidError:
            continue
        if len(bound) == _MAXIMUM_BINDINGS:
            break
    return bound


def _extend(values: dict[str, None], category: str, subtask: Subtask, resources: Iterable[Resource]) -> None:
    """Add the values of the resources of a category that this subtask's application can see."""
    for resource in resources:
        same_place = resource.application in ("", subtask.application)
        if resource.category == category and resource.value and same_place:
            values[resource.value] = None
