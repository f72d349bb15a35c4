"""Why tasks are missing: no graph has these levels, the limits exclude them, or the pool lacks subtasks."""

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Set

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
from taskloom.synthesis.composition.demand import Row
from taskloom.synthesis.composition.enumeration import all_cells
from taskloom.synthesis.composition.groups import Paths
from taskloom.synthesis.composition.pool.compiled_pool import CompiledPool
from taskloom.synthesis.composition.request import CompositionRequest, MissingLink, Shortfall, ShortfallKind
from taskloom.taskgraph.bitmasks import bits
from taskloom.taskgraph.measures.cells import contradiction_in, possible_cells
from taskloom.taskgraph.measures.per_dimension import LevelConstraint

_MOST_NAMED = 4
_LONGEST_PATH = 8
_PATHS_DRAWN = 20


def shortfall_of(
    missing: Row,
    pool: CompiledPool,
    request: CompositionRequest,
    reachable: Set[Cell],
    reachable_without_limits: Set[Cell],
) -> Shortfall:
    """Why a quota was not filled.

    `reachable` are the cells that the pool reaches within the limits; if there are none,
    `reachable_without_limits` are those that it reaches without.
    """
    wanted = missing.cells or frozenset(
        cell for cell in EVERY_CELL if missing.levels.allows(cell) and request.within.allows(cell)
    )
    reference = (reachable or reachable_without_limits) if wanted else ()
    nearest = min(reference, key=lambda cell: (_distance(cell, wanted), cell), default=None)
    kind: ShortfallKind = "used_up"
    bottleneck = ""
    if not missing.cells:
        kind, reason = _explain_impossible(wanted, missing.levels, request)
    elif not wanted.isdisjoint(reachable):
        nearest, bottleneck = None, scarce_category(pool)
        reason = (
            f"A thorough search found no more tasks of {missing.name} that are new, not near-duplicates,"
            " within the limits and shares, and have a successful order. Add subtasks or parameter sets,"
            f" preferably ones that write or read {bottleneck}, or raise maximum_size, maximum_components"
            " or a share."
        )
    else:
        kind = "impossible_for_pool"
        cell = min(wanted, key=lambda cell: (_distance(cell, [nearest or cell]), cell))
        bottleneck, reason = _find_bottleneck(pool, cell)
        ranges = request.ranges.describe()
        reason += (
            f" The limits are maximum_components {request.maximum_components}, maximum_readers"
            f" {request.maximum_readers}, maximum_ends {request.maximum_ends}; raise these for wider tasks."
            f"{f' The request is confined to {ranges}.' if ranges else ''}"
        )
    return Shortfall(
        wanted=missing.name,
        missing=missing.remaining,
        kind=kind,
        reason=reason,
        bottleneck=bottleneck,
        nearest=nearest,
    )


def _explain_impossible(
    wanted: Collection[Cell], levels: LevelConstraint, request: CompositionRequest
) -> tuple[ShortfallKind, str]:
    if not wanted:
        return "impossible_for_any_graph", "The quota and `within` contradict each other; change one of them."
    if possible_cells().isdisjoint(wanted):
        common_levels = {
            dimension: tuple(
                level for level in levels.levels(dimension) if level in request.within.levels(dimension)
            )
            for dimension in DIMENSIONS
        }
        return "impossible_for_any_graph", (
            f"impossible for any graph: {contradiction_in(LevelConstraint.model_validate(common_levels))}"
            f" ({len(possible_cells())} of the {len(EVERY_CELL)} combinations of levels exist)."
        )
    if possible_cells(ranges=request.ranges).isdisjoint(wanted):
        described = "" if levels == LevelConstraint() else f"{levels.describe()} with "
        reason = f"impossible for any graph: no graph has {described}{request.ranges.describe()}."
        return "impossible_for_any_graph", reason
    for limit, values in (
        ("maximum_size", range(request.maximum_size + 1, MAXIMUM_SUBTASKS + 1)),
        ("maximum_components", range(request.maximum_components + 1, MAXIMUM_SUBTASKS + 1)),
        ("minimum_size", range(request.minimum_size - 1, 0, -1)),
    ):
        for value in values:
            if not all_cells(request.model_copy(update={limit: value})).isdisjoint(wanted):
                reason = f"this quota needs {limit} {value}, but it is {getattr(request, limit)}; change it."
                return "outside_limits", reason
    return "outside_limits", "this quota needs another minimum_size, maximum_size or maximum_components."


def _distance(cell: Cell, others: Collection[Cell]) -> int:
    return min(
        sum(abs(LEVELS.index(mine) - LEVELS.index(other)) for mine, other in zip(cell, one, strict=True))
        for one in others
    )


def _find_bottleneck(pool: CompiledPool, cell: Cell) -> tuple[str, str]:
    if not pool.instances:
        return "subtasks", "The pool has no subtasks with parameters. Explore applications."
    categories, longest, scarce = pool.application_categories, _longest_path(pool), scarce_category(pool)
    ends = [resource.category for number in longest[-1:] for resource in pool.instances[number].node.outputs]
    end = ends[0] if ends else scarce
    categories_lacking = f"application categories; the pool has {len(categories)} ({', '.join(categories)})"
    depth_lacking = f"subtasks in a chain; the longest found in the pool has {len(longest)}"
    nodes_lacking = f"subtasks with their parameters; the pool has {len(pool.instances)}"
    requirements: tuple[tuple[Measure, int, str, str, str], ...] = (
        (
            "application_categories",
            len(categories),
            "application categories",
            categories_lacking,
            "applications of other categories",
        ),
        ("depth", len(longest), end, depth_lacking, f"subtasks that read or write {end}"),
        ("nodes", len(pool.instances), "subtasks", nodes_lacking, "more subtasks"),
    )
    for measure, available, bottleneck, lacking, advice in requirements:
        row, level = by_measure(measure), level_in(cell, measure)
        needed = row.values(level)[0]
        if available < needed:
            return bottleneck, f"{row.name.capitalize()} {level} needs {needed} {lacking}. Explore {advice}."
    wanted = ", ".join(f"{dimension} {level}" for dimension, level in zip(DIMENSIONS, cell, strict=True))
    return scarce, (
        f"No subtasks in the pool link up to a graph of {wanted}. The scarcest resource category is {scarce}:"
        " explore subtasks that write it where others read it."
    )


def _longest_path(pool: CompiledPool) -> list[int]:
    generator, paths, longest = random.Random(0), Paths(pool), list[int]()
    everything = (1 << len(pool.instances)) - 1
    for length in range(1, _LONGEST_PATH + 1):
        drawn = (paths.draw(everything, length, generator) for _ in range(_PATHS_DRAWN))
        found = next(filter(None, drawn), None)
        if found is None:
            break
        longest = found
    return longest


def scarce_category(pool: CompiledPool) -> str:
    """The resource category with the fewest links per reader, which is the first to explore."""
    readers: Counter[str] = Counter()
    links: Counter[str] = Counter()
    for instance in pool.instances:
        for need in instance.needs:
            readers[need.resource.category] += 1
            links[need.resource.category] += need.producers.bit_count()
    if not readers:
        written = sorted({resource.category for item in pool.instances for resource in item.node.outputs})
        return written[0] if written else "any (no subtask reads a resource)"
    return min(readers, key=lambda category: (links[category] / readers[category], category))


def missing_links(pool: CompiledPool) -> tuple[MissingLink, ...]:
    """What to propose so that subtasks link up, per application and resource category: readers of products
    that no subtask reads, producers of inputs that none makes. The most frequent come first."""
    made = {(item.node.world, resource) for item in pool.instances for resource in item.node.outputs}
    subtasks: defaultdict[tuple[str, str, bool], set[str]] = defaultdict(set)
    values: defaultdict[tuple[str, str, bool], set[str]] = defaultdict(set)
    for instance in pool.instances:
        node = instance.node
        readers = (pool.instances[number] for number in bits(pool.feeds[instance.number]))
        unread = set(node.outputs) - {need.resource for reader in readers for need in reader.needs}
        unmade = {need.resource for need in instance.needs if (node.world, need.resource) not in made}
        for resources, is_made in ((unread, True), (unmade, False)):
            for resource in resources:
                key = node.application, resource.category, is_made
                subtasks[key].add(node.subtask_id.removeprefix(f"{node.application}."))
                values[key].add(resource.value)
    missing = []
    for key in sorted(subtasks, key=lambda key: (-len(subtasks[key]), key)):
        application, category, is_made = key
        names = ", ".join(f"`{name}`" for name in sorted(subtasks[key])[:_MOST_NAMED])
        examples = ", ".join(f"'{value}'" for value in sorted(values[key] - {""})[:_MOST_NAMED])
        described = f"{names}{f' ({examples})' if examples else ''}"
        advice = (
            f"Nobody reads the {category} made by {described} and leaves it there. Propose subtasks with"
            f" {category} as an input, whose parameter sets name exactly these values."
            if is_made
            else f"Nobody makes the {category} that is read by {described}. Propose subtasks with {category}"
            " as an output that make exactly these values."
        )
        missing.append(MissingLink(application=application, category=category, advice=advice))
    return tuple(missing)
