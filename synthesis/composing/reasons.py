"""Why tasks are missing: what no graph can be, what the limits exclude, and what this pool lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set

from synthesis.composing.compiled_pool import CompiledPool
from synthesis.composing.demand import Missing
from synthesis.composing.enumeration import Limits
from synthesis.composing.groups import Paths
from synthesis.composing.request import CompositionRequest, Shortfall
from taskgraph.bitmasks import bits
from taskgraph.cells import possible_cells, why_impossible
from taskgraph.complexity import DIMENSIONS, LEVELS, UPPER_BOUNDS, Cell, Dimension
from taskgraph.task import Level


def shortfalls_of(
    missing: Sequence[Missing],
    pool: CompiledPool,
    request: CompositionRequest,
    limits: Limits,
    reached: Set[Cell],
) -> tuple[Shortfall, ...]:
    """One shortfall per quota that was not filled, each with its reason."""
    return tuple(_shortfall(item, pool, request, limits, reached) for item in missing)


def _shortfall(
    item: Missing, pool: CompiledPool, request: CompositionRequest, limits: Limits, reached: Set[Cell]
) -> Shortfall:
    if not item.cells:
        return _impossible(item, request, limits)
    if item.cells & reached:
        return Shortfall(
            wanted=item.wanted,
            missing=item.count,
            kind="used_up",
            reason=f"The pool has no {item.count} further tasks with {item.wanted} that are new, within the limits, and"
            " have a successful order. Add subtasks or parameter sets, or raise maximum_size or maximum_components.",
        )
    target, nearest = _nearest(item.cells, reached)
    bottleneck, reason = bottleneck_of(pool, target)
    return Shortfall(
        wanted=item.wanted,
        missing=item.count,
        kind="impossible_for_pool",
        reason=reason,
        bottleneck=bottleneck,
        nearest=nearest,
    )


def _impossible(item: Missing, request: CompositionRequest, limits: Limits) -> Shortfall:
    constraints = [
        quota.levels for quota in request.quotas if item.wanted in (quota.name, quota.levels.describe())
    ]
    asked = [*constraints, request.within]
    wanted = {cell for cell in _every_cell() if all(constraint.allows(cell) for constraint in asked)}
    existing = wanted & possible_cells()
    if not existing:
        reasons = Counter(why_impossible(cell) for cell in wanted)
        reason = reasons.most_common(1)[0][0] if reasons else "the quota and `within` contradict each other"
        return Shortfall(
            wanted=item.wanted,
            missing=item.count,
            kind="impossible_for_any_graph",
            reason=f"{reason} (67 of the 243 combinations of levels exist).",
        )
    reason = why_impossible(
        min(existing), maximum_size=limits.maximum_size, maximum_components=limits.maximum_components
    )
    return Shortfall(wanted=item.wanted, missing=item.count, kind="outside_limits", reason=reason)


def _every_cell() -> list[Cell]:
    return [
        (dependency, instruction, knowledge, hierarchy, branch)
        for dependency in LEVELS
        for instruction in LEVELS
        for knowledge in LEVELS
        for hierarchy in LEVELS
        for branch in LEVELS
    ]


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


def bottleneck_of(pool: CompiledPool, cell: Cell) -> tuple[str, str]:
    """What a pool lacks for tasks of `cell`: a resource or application category, and the explanation."""
    knowledge = cell[DIMENSIONS.index("knowledge")]
    categories = len(pool.application_categories)
    if knowledge != "easy" and categories <= _bound("knowledge", knowledge):
        name = ", ".join(pool.application_categories) or "none"
        return (
            "application categories",
            f"Knowledge {knowledge} needs {_bound('knowledge', knowledge) + 1} application categories; the pool has"
            f" {categories} ({name}). Explore applications of other categories.",
        )
    hierarchy = cell[DIMENSIONS.index("hierarchy")]
    chain = Paths(pool).longest()
    if hierarchy != "easy" and len(chain) <= _bound("hierarchy", hierarchy):
        category = _end_of(pool, chain)
        return (
            category,
            f"Hierarchy {hierarchy} needs a chain of {_bound('hierarchy', hierarchy) + 1} subtasks; the longest in the pool"
            f" has {len(chain)}. Explore subtasks that read or write {category}.",
        )
    category = scarce_category(pool)
    wanted = ", ".join(f"{dimension} {level}" for dimension, level in zip(DIMENSIONS, cell, strict=True))
    return (
        category,
        f"No group of subtasks in the pool links up to {wanted}. The scarcest resource category is {category}: explore"
        " subtasks that write it where others read it.",
    )


def _bound(dimension: Dimension, level: Level) -> int:
    """Largest value of the level below."""
    return UPPER_BOUNDS[dimension][LEVELS.index(level) - 1]


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
