"""Possible combinations of complexity levels. A graph of n nodes with depth d and width w needs d·w ≥ n and
d + w ≤ n + 1; `edge_bounds` gives the bounds on its edges, and all numbers between them occur. Of the 243
cells of Table 2, 67 are possible; of the 81 without knowledge, 23; with one component, 14 of those."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import combinations

from taskloom.resources.capability_presets import Capability
from taskloom.resources.dimensions import (
    DIMENSIONS,
    LEVELS,
    MAXIMUM_SUBTASKS,
    TABLE,
    Cell,
    Dimension,
    DimensionDefinition,
    Level,
)
from taskloom.resources.record import Record
from taskloom.taskgraph.measures.complexity import capabilities_met, cell_from_measures
from taskloom.taskgraph.measures.per_dimension import LevelConstraint, MeasureRanges

_APPLICATION_CATEGORIES = 12
_SUFFICIENT_NODES = 14
_EDGES, _NODES, _CATEGORIES, _DEPTH, _WIDTH = DIMENSIONS


def edge_bounds(nodes: int, depth: int, width: int, components: int) -> tuple[int, int] | None:
    """Minimum and maximum number of edges of a graph with these measures and at most `components` components;
    None if there is no such graph.

    >>> edge_bounds(nodes=5, depth=3, width=2, components=1)
    (4, 8)
    >>> edge_bounds(nodes=5, depth=2, width=2, components=1) is None
    True
    """
    if depth < 1 or width < 1 or depth * width < nodes or depth + width > nodes + 1:
        return None
    rest, layers = nodes - width, depth - 1
    sizes = [rest // layers + (1 if layer < rest % layers else 0) for layer in range(layers)]
    missing = sum(size * (size - 1) // 2 for size in (width, *sizes))
    most = nodes * (nodes - 1) // 2 - missing
    fewest = nodes - min(components, width)
    return (fewest, most) if fewest <= most else None


@lru_cache(maxsize=64)
def possible_cells(
    *,
    maximum_size: int = MAXIMUM_SUBTASKS,
    maximum_components: int = MAXIMUM_SUBTASKS,
    minimum_size: int = 1,
    ranges: MeasureRanges | None = None,
) -> frozenset[Cell]:
    """The cells of all task graphs within the limits and the `ranges` of values.

    >>> len(possible_cells())
    67
    >>> len({(cell[0], cell[1], cell[3], cell[4]) for cell in possible_cells()})
    23
    >>> len({(cell[0], cell[1], cell[3], cell[4]) for cell in possible_cells(maximum_components=1)})
    14
    >>> possible_cells(ranges=MeasureRanges(hierarchy=(5, 5), instruction=(5, 5), knowledge=(1, 1)))
    frozenset({('hard', 'hard', 'easy', 'hard', 'easy')})
    """
    cells = set()
    allowed = ranges or MeasureRanges()
    fewest, most = allowed.of(_NODES)
    sufficient = MAXIMUM_SUBTASKS if allowed.describe() else _SUFFICIENT_NODES
    lowest, highest = allowed.of(_EDGES)
    for nodes in range(max(minimum_size, fewest), min(maximum_size, sufficient, most) + 1):
        for depth in _range_within(allowed.of(_DEPTH), nodes):
            for width in _range_within(allowed.of(_WIDTH), nodes):
                bounds = edge_bounds(nodes, depth, width, maximum_components)
                if bounds is None:
                    continue
                least = max(bounds[0], lowest)
                for edges in range(least, min(bounds[1], highest, least + 5) + 1):
                    for categories in _range_within(
                        allowed.of(_CATEGORIES), min(nodes, _APPLICATION_CATEGORIES)
                    ):
                        cells.add(cell_from_measures(edges, nodes, categories, depth, width))
    return frozenset(cells)


def _range_within(allowed: tuple[int, int], maximum: int) -> range:
    return range(max(1, allowed[0]), min(maximum, allowed[1]) + 1)


def contradiction_in(levels: LevelConstraint) -> str:
    """A smallest subset of the `levels` that no graph combines, in words; empty if some graph has them all.

    >>> contradiction_in(LevelConstraint(instruction=("easy",), hierarchy=("hard",), branch=("easy",)))
    'no graph has instruction easy and hierarchy hard'
    >>> contradiction_in(LevelConstraint(hierarchy=("hard",)))
    ''
    """
    dimensions = levels.constrained()
    for size in range(1, len(dimensions) + 1):
        for chosen in combinations(dimensions, size):
            part = LevelConstraint.model_validate({name: levels.levels(name) for name in chosen})
            if not any(part.allows(cell) for cell in possible_cells()):
                return "no graph has " + part.describe().replace(", ", " and ")
    return ""


FEW = 0.05
"""Share of the tasks below which a level or a capability counts as rare."""


class Gap(Record):
    """A level or a capability that few tasks have, or none."""

    name: str
    """Its name: `hard in knowledge`, `Parallel Planning`."""
    tasks: int
    """Number of tasks that have it."""
    share: float
    """Their share of all tasks."""
    missing: str
    """What it would need, in words."""

    def __str__(self) -> str:
        """The number of tasks that have it, and what it would need."""
        count = f"{self.tasks} tasks ({self.share:.1%})" if self.tasks else "none"
        return f"{count}; {self.missing}"


def gaps_of(tasks: Mapping[tuple[int, ...], int], capabilities: Iterable[Capability]) -> tuple[Gap, ...]:
    """Every level of every dimension and every capability that is missing or rare, levels first.

    Args:
        tasks: Number of tasks with each combination of values, in the order of the dimensions.
        capabilities: The capabilities that tasks should test.

    >>> [str(gap) for gap in gaps_of({(3, 4, 3, 3, 2): 20}, []) if gap.name == "hard in hierarchy"]
    ['none; it takes depth 5 and more, the most is 3. For more: subtasks that work on with what others ...']
    """
    total = sum(tasks.values())
    if not total:
        return ()
    cells = Counter[Cell]()
    for values, number in tasks.items():
        cells[cell_from_measures(*values)] += number
    gaps = []
    for position, row in enumerate(TABLE):
        present = [values[position] for values in tasks]
        for level in LEVELS:
            count = _count_with(cells, {row.name: level})
            if count < FEW * total:
                name = f"{level} in {row.name}"
                missing = _describe_missing_values(row, level, count, (min(present), max(present)))
                gaps.append(Gap(name=name, tasks=count, share=count / total, missing=missing))
    for capability in capabilities:
        count = sum(number for cell, number in cells.items() if capabilities_met(cell, [capability]))
        if count < FEW * total:
            missing = _describe_missing_levels(cells, capability.levels())
            gaps.append(Gap(name=capability.title, tasks=count, share=count / total, missing=missing))
    return tuple(gaps)


def _describe_missing_values(
    row: DimensionDefinition, level: Level, count: int, values: tuple[int, int]
) -> str:
    low, high = row.values(level)
    if level == "easy":
        needs, nearest = f"at most {high}", values[0]
    else:
        needs, nearest = f"{low} and more" if level == "hard" else f"{low} to {high}", values[1]
    text = f"it takes {needs} {row.plural}" if row.singular else f"it takes {row.plural} {needs}"
    if not count and not low <= nearest <= high:
        text += f", the {'most' if level != 'easy' else 'fewest'} is {nearest}"
    if level == "easy":
        return text
    return f"{text}. For more: {row.more_by}"


def _describe_missing_levels(cells: Mapping[Cell, int], levels: Mapping[Dimension, Level]) -> str:
    counts = {
        f"{level} in {dimension}": _count_with(cells, {dimension: level})
        for dimension, level in levels.items()
    }
    absent = [name for name, count in counts.items() if not count]
    if absent:
        return f"it takes tasks that are {' and '.join(counts)}, and none is {' or '.join(absent)}"
    present = " and ".join(f"{count} are {name}" for name, count in counts.items())
    return f"of the tasks, {present}" + (", few of them both" if len(counts) > 1 else "")


def _count_with(cells: Mapping[Cell, int], levels: Mapping[Dimension, Level]) -> int:
    return sum(
        number
        for cell, number in cells.items()
        if all(cell[DIMENSIONS.index(dimension)] == level for dimension, level in levels.items())
    )
