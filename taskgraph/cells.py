"""Which combinations of complexity levels exist at all, and constraints on levels.

A graph of n nodes with depth d and width w needs d·w ≥ n and d + w ≤ n + 1. With at most c components it has at least
n − min(c, w) edges, and at most as many as the complete d-partite graph with one part of w nodes and the others as equal
as possible. All numbers between occur. Of the 243 cells of Table 2, 67 exist; of the 81 without knowledge, 23; with one
component, 14 of those.
"""

from __future__ import annotations

from functools import lru_cache

from resources.record import Record
from taskgraph.bitmasks import MAXIMUM_SUBTASKS
from taskgraph.complexity import DIMENSIONS, LEVELS, Cell, Dimension, cell_from_measures
from taskgraph.task import Level

_APPLICATION_CATEGORIES = 12
_ENOUGH_NODES = 14


class LevelConstraint(Record):
    """Levels that are allowed in each dimension; an empty tuple allows all."""

    dependency: tuple[Level, ...] = ()
    """Allowed levels of dependency complexity."""
    instruction: tuple[Level, ...] = ()
    """Allowed levels of instruction complexity."""
    knowledge: tuple[Level, ...] = ()
    """Allowed levels of knowledge complexity."""
    hierarchy: tuple[Level, ...] = ()
    """Allowed levels of hierarchy complexity."""
    branch: tuple[Level, ...] = ()
    """Allowed levels of branch complexity."""

    def levels(self, dimension: Dimension) -> tuple[Level, ...]:
        """The allowed levels of `dimension`, never empty.

        >>> LevelConstraint(branch=("hard",)).levels("branch"), LevelConstraint().levels("branch")
        (('hard',), ('easy', 'medium', 'hard'))
        """
        chosen: tuple[Level, ...] = getattr(self, dimension)
        return chosen or LEVELS

    def allows(self, cell: Cell) -> bool:
        """Whether `cell` meets the constraint.

        >>> LevelConstraint(hierarchy=("hard",)).allows(("hard", "hard", "easy", "hard", "easy"))
        True
        """
        return all(found in self.levels(dimension) for dimension, found in zip(DIMENSIONS, cell, strict=True))

    def describe(self) -> str:
        """The constraint in words: `dependency hard, branch medium or hard`.

        >>> LevelConstraint(branch=("medium", "hard")).describe()
        'branch medium or hard'
        """
        named = [
            f"{dimension} {' or '.join(getattr(self, dimension))}"
            for dimension in DIMENSIONS
            if getattr(self, dimension)
        ]
        return ", ".join(named) or "any levels"


def edge_bounds(nodes: int, depth: int, width: int, components: int) -> tuple[int, int] | None:
    """Fewest and most edges of a graph with these measures and at most `components` components; None without one.

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
    *, maximum_size: int = MAXIMUM_SUBTASKS, maximum_components: int = MAXIMUM_SUBTASKS, minimum_size: int = 1
) -> frozenset[Cell]:
    """The cells that some task graph within the limits realises.

    >>> len(possible_cells())
    67
    >>> len({(cell[0], cell[1], cell[3], cell[4]) for cell in possible_cells()})
    23
    >>> len({(cell[0], cell[1], cell[3], cell[4]) for cell in possible_cells(maximum_components=1)})
    14
    """
    found = set()
    for nodes in range(minimum_size, min(maximum_size, _ENOUGH_NODES) + 1):
        for depth in range(1, nodes + 1):
            for width in range(1, nodes + 1):
                bounds = edge_bounds(nodes, depth, width, maximum_components)
                if bounds is None:
                    continue
                for edges in range(bounds[0], min(bounds[1], bounds[0] + 5) + 1):
                    for categories in range(1, min(nodes, _APPLICATION_CATEGORIES) + 1):
                        found.add(cell_from_measures(edges, nodes, categories, depth, width))
    return frozenset(found)


def why_impossible(
    cell: Cell, *, maximum_size: int = MAXIMUM_SUBTASKS, maximum_components: int = MAXIMUM_SUBTASKS
) -> str:
    """Why no task graph within the limits has the levels of `cell`; empty when one has.

    >>> why_impossible(("easy", "easy", "easy", "hard", "easy")).split(":")[0]
    'impossible for any graph'
    """
    if cell in possible_cells(maximum_size=maximum_size, maximum_components=maximum_components):
        return ""
    if cell not in possible_cells():
        return f"impossible for any graph: {_contradiction(cell)}"
    if cell not in possible_cells(maximum_components=maximum_components):
        needed = next(
            limit
            for limit in range(maximum_components + 1, MAXIMUM_SUBTASKS + 1)
            if cell in possible_cells(maximum_components=limit)
        )
        return f"needs at least {needed} components, and at most {maximum_components} are allowed"
    needed = next(
        limit
        for limit in range(maximum_size + 1, MAXIMUM_SUBTASKS + 1)
        if cell in possible_cells(maximum_size=limit, maximum_components=maximum_components)
    )
    return f"needs at least {needed} subtasks, and at most {maximum_size} are allowed"


def _contradiction(cell: Cell) -> str:
    """The fewest levels of `cell` that no graph combines."""
    dimensions = range(len(DIMENSIONS))
    for size in range(2, len(DIMENSIONS) + 1):
        for chosen in _subsets(list(dimensions), size):
            if not any(all(other[index] == cell[index] for index in chosen) for other in possible_cells()):
                return "no graph has " + " and ".join(
                    f"{DIMENSIONS[index]} {cell[index]}" for index in chosen
                )
    return "no graph has these levels"


def _subsets(items: list[int], size: int) -> list[list[int]]:
    if size == 0:
        return [[]]
    return [
        [item, *rest]
        for position, item in enumerate(items)
        for rest in _subsets(items[position + 1 :], size - 1)
    ]
