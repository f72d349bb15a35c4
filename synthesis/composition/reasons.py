"""Why tasks are missing: what no graph can be, what the limits exclude, and what this pool lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import Literal

from taskloom.resources.dimensions import (
    DIMENSIONS,
    EVERY_CELL,
    LEVELS,
    MAXIMUM_SUBTASKS,
    Cell,
    Measure,
    by_measure,
    level_in,
)
from taskloom.synthesis.composition.demand import Missing
from taskloom.synthesis.composition.groups import Paths
from taskloom.synthesis.composition.pool.compiled_pool import CompiledPool
from taskloom.synthesis.composition.request import CompositionRequest, Limits, MissingLink, Shortfall
from taskloom.taskgraph.bitmasks import bits
from taskloom.taskgraph.measures.cells import contradiction_in, possible_cells
from taskloom.taskgraph.measures.per_dimension import LevelConstraint, MeasureRanges
from taskloom.taskgraph.records.subtask import BoundSubtask

_SHOWN = 4


def shortfalls_of(
    missing: Sequence[Missing],
    pool: CompiledPool,
    request: CompositionRequest,
    limits: Limits,
    reached: Set[Cell],
    beyond: Set[Cell],
) -> tuple[Shortfall, ...]:
    """One shortfall per quota that was not filled, each with its reason.

    Args:
        missing: The quotas.
        pool: What there is to compose from.
        request: What was asked for.
        limits: Limits of the request.
        reached: Cells that the pool reaches within the limits.
        beyond: Cells that it reaches anyhow: the nearest one is named from `reached`, or else from these.
    """
    return tuple(_shortfall(item, pool, request, limits, reached, beyond) for item in missing)


def _shortfall(
    item: Missing,
    pool: CompiledPool,
    request: CompositionRequest,
    limits: Limits,
    reached: Set[Cell],
    beyond: Set[Cell],
) -> Shortfall:
    if not item.cells:
        return _impossible(item, request, limits, reached or beyond)
    if item.cells & reached:
        category = scarce_category(pool)
        return Shortfall(
            wanted=item.wanted,
            missing=item.count,
            kind="used_up",
            reason=(
                f"A thorough search found no more tasks of {item.wanted} that are new and no near-duplicates,"
                " within the limits and shares, and have a successful order. Add subtasks or parameter sets,"
                f" best those that write or read {category}, or raise maximum_size, maximum_components or a"
                " share."
            ),
            bottleneck=category,
        )
    target, nearest = _nearest(item.cells, reached or beyond)
    bottleneck, reason = bottleneck_of(pool, target, limits.maximum_components)
    if limits.ranges.describe():
        reason += f" Asked for within {limits.ranges.describe()}."
    bounds = {
        name: getattr(limits, name)
        for name in ("maximum_readers", "maximum_ends")
        if getattr(limits, name) < MAXIMUM_SUBTASKS
    }
    if bounds:
        kept = ", ".join(f"{name} {bound}" for name, bound in bounds.items())
        reason += f" Tasks also keep to {kept}; raise these for wider tasks."
    return Shortfall(
        wanted=item.wanted,
        missing=item.count,
        kind="impossible_for_pool",
        reason=reason,
        bottleneck=bottleneck,
        nearest=nearest,
    )


def _impossible(item: Missing, request: CompositionRequest, limits: Limits, reached: Set[Cell]) -> Shortfall:
    asked = [item.levels, request.within]
    wanted = frozenset(cell for cell in EVERY_CELL if all(constraint.allows(cell) for constraint in asked))
    ranges = limits.ranges.describe()
    for_any = True
    if not wanted:
        reason = "the quota and `within` contradict each other"
    elif not wanted & possible_cells():
        reason = (
            f"impossible for any graph: {_contradiction(asked)} ({len(possible_cells())} of the"
            f" {len(EVERY_CELL)} combinations of levels exist)."
        )
    elif not wanted & possible_cells(ranges=limits.ranges):
        levels = "" if item.levels == LevelConstraint() else f"{item.levels.describe()} with "
        reason = f"impossible for any graph: no graph has {levels}{ranges}."
    else:
        for_any = False
        reason = _outside(wanted, limits)
    kind: Literal["impossible_for_any_graph", "outside_limits"] = (
        "impossible_for_any_graph" if for_any else "outside_limits"
    )
    inside = frozenset(cell for cell in wanted if _may_be_within(limits.ranges, cell))
    nearest = _nearest(inside, reached)[1] if inside else None
    return Shortfall(wanted=item.wanted, missing=item.count, kind=kind, reason=reason, nearest=nearest)


def _may_be_within(ranges: MeasureRanges, cell: Cell) -> bool:
    """Whether every level of `cell` has a value within the ranges."""
    bounds = (ranges.within(dimension, level) for dimension, level in zip(DIMENSIONS, cell, strict=True))
    return all(low <= high for low, high in bounds)


def _contradiction(asked: Sequence[LevelConstraint]) -> str:
    """The fewest levels that are asked for and that no graph combines."""
    both = {
        dimension: tuple(
            level for level in LEVELS if all(level in constraint.levels(dimension) for constraint in asked)
        )
        for dimension in DIMENSIONS
        if any(dimension in constraint.constrained() for constraint in asked)
    }
    return contradiction_in(LevelConstraint.model_validate(both))


def _outside(wanted: frozenset[Cell], limits: Limits) -> str:
    """Which limit of the request keeps the wanted cells out, and how far it must be moved."""

    def exist(fewest: int, most: int, components: int) -> bool:
        return not wanted.isdisjoint(
            possible_cells(
                minimum_size=fewest, maximum_size=most, maximum_components=components, ranges=limits.ranges
            )
        )

    fewest, most, components = limits.minimum_size, limits.maximum_size, limits.maximum_components
    for size in range(most + 1, MAXIMUM_SUBTASKS + 1):
        if exist(fewest, size, components):
            return f"needs at least {size} subtasks, and at most {most} are allowed; raise maximum_size."
    for number in range(components + 1, MAXIMUM_SUBTASKS + 1):
        if exist(fewest, most, number):
            return (
                f"needs at least {number} components, and at most {components} are allowed; raise"
                " maximum_components."
            )
    for size in range(fewest - 1, 0, -1):
        if exist(size, most, components):
            return f"needs at most {size} subtasks, and at least {fewest} are wanted; lower minimum_size."
    return (
        f"needs sizes other than {fewest} to {most} subtasks and more than {components} components; widen"
        " these limits."
    )


def _nearest(wanted: Set[Cell], reached: Set[Cell]) -> tuple[Cell, Cell | None]:
    """The wanted cell that is nearest to a reached one, and that one."""
    pairs = [(_distance(cell, other), cell, other) for cell in sorted(wanted) for other in sorted(reached)]
    if not pairs:
        return min(wanted), None
    _, cell, other = min(pairs)
    return cell, other


def _distance(cell: Cell, other: Cell) -> int:
    return sum(
        abs(LEVELS.index(mine) - LEVELS.index(theirs)) for mine, theirs in zip(cell, other, strict=True)
    )


def bottleneck_of(pool: CompiledPool, cell: Cell, components: int) -> tuple[str, str]:
    """What a pool lacks for tasks of `cell`: a resource or application category, and the explanation."""
    if not pool.instances:
        return "subtasks", "The pool has no subtasks with parameters. Explore applications."
    categories, needed, asked = len(pool.application_categories), *_needed(cell, "application_categories")
    if categories < needed:
        name = ", ".join(pool.application_categories) or "none"
        return (
            "application categories",
            (
                f"{asked} needs {needed} application categories; the pool has"
                f" {categories} ({name}). Explore applications of other categories."
            ),
        )
    chain = Paths(pool).longest()
    needed, asked = _needed(cell, "depth")
    if len(chain) < needed:
        category = _end_of(pool, chain)
        return (
            category,
            (
                f"{asked} needs a chain of {needed} subtasks; the longest in the pool"
                f" has {len(chain)}. Explore subtasks that read or write {category}."
            ),
        )
    needed, asked = _needed(cell, "nodes")
    if len(pool.instances) < needed:
        return (
            "subtasks",
            (
                f"{asked} needs {needed} subtasks with their parameters; the pool"
                f" has {len(pool.instances)}. Explore more subtasks."
            ),
        )
    category = scarce_category(pool)
    wanted = ", ".join(f"{dimension} {level}" for dimension, level in zip(DIMENSIONS, cell, strict=True))
    return (
        category,
        (
            f"No group of subtasks in the pool links up to {wanted} in at most {components} components. The"
            f" scarcest resource category is {category}: explore subtasks that write it where others read it."
        ),
    )


def _needed(cell: Cell, measure: Measure) -> tuple[int, str]:
    """Smallest value of `measure` at the level of `cell`, and that level in words."""
    row, level = by_measure(measure), level_in(cell, measure)
    return row.values(level)[0], f"{row.name.capitalize()} {level}"


def missing_links(pool: CompiledPool) -> tuple[MissingLink, ...]:
    """What to propose so that subtasks link up, per application and resource category: readers of what nobody
    reads, makers of what nobody makes. What concerns most subtasks comes first."""
    loose: dict[tuple[str, str, bool], _Loose] = {}
    for instance in pool.instances:
        node = instance.node
        read = {
            need.resource
            for number in bits(pool.feeds[instance.number])
            for need in pool.instances[number].needs
        }
        missing = [(resource, True) for resource in set(node.outputs) - read]
        missing += [(need.resource, False) for need in instance.needs if not need.producers]
        for resource, is_made in missing:
            key = (node.application, resource.category, is_made)
            loose.setdefault(key, _Loose()).add(node, resource.value)
    order = sorted(loose.items(), key=lambda pair: (-len(pair[1].subtasks), pair[0]))
    return tuple(
        MissingLink(application=key[0], category=key[1], advice=item.advice(key[1], is_made=key[2]))
        for key, item in order
    )


@dataclass(slots=True)
class _Loose:
    """Subtasks of which one side of a category links to nothing, and the values."""

    subtasks: set[str] = field(default_factory=set)
    values: set[str] = field(default_factory=set)

    def add(self, node: BoundSubtask, value: str) -> None:
        self.subtasks.add(node.subtask_id.removeprefix(f"{node.application}."))
        self.values |= {value} - {""}

    def advice(self, category: str, *, is_made: bool) -> str:
        names = ", ".join(f"`{name}`" for name in sorted(self.subtasks)[:_SHOWN])
        values = ", ".join(f"'{value}'" for value in sorted(self.values)[:_SHOWN])
        shown = f" ({values})" if values else ""
        if is_made:
            return (
                f"Nobody reads the {category} that {names} made{shown}. Propose subtasks with {category} as"
                " an input, whose parameter sets name exactly these values."
            )
        return (
            f"Nobody makes the {category} that is read by {names}{shown}. Propose subtasks with {category} as"
            " an output that make exactly these values."
        )


def _end_of(pool: CompiledPool, chain: Sequence[int]) -> str:
    """The resource category at which the longest chains end."""
    if not chain:
        return scarce_category(pool)
    outputs = pool.instances[chain[-1]].node.outputs
    inputs = pool.instances[chain[0]].node.inputs
    named = [resource.category for resource in (*outputs, *inputs)]
    return named[0] if named else scarce_category(pool)


def scarce_category(pool: CompiledPool) -> str:
    """The resource category with the fewest links per reader: the first to explore."""
    readers: Counter[str] = Counter()
    links: Counter[str] = Counter()
    for instance in pool.instances:
        for need in instance.needs:
            readers[need.resource.category] += 1
            links[need.resource.category] += sum(1 for _ in bits(need.producers))
    if not readers:
        written = sorted({resource.category for item in pool.instances for resource in item.node.outputs})
        return written[0] if written else "any (no subtask reads a resource)"
    return min(readers, key=lambda category: (links[category] / readers[category], category))
