"""Which combinations of complexity levels exist at all. A graph of n nodes with depth d and width w needs d·w
≥ n and d + w ≤ n + 1; `edge_bounds` says how many edges it can have, and all numbers between occur. Of the
243 cells of Table 2, 67 exist; of the 81 without knowledge, 23; with one component, 14 of those."""

from functools import lru_cache
from itertools import combinations

from taskloom.resources.dimensions import DIMENSIONS, MAXIMUM_SUBTASKS, Cell
from taskloom.taskgraph.measures.complexity import cell_from_measures
from taskloom.taskgraph.measures.per_dimension import LevelConstraint, MeasureRanges

_APPLICATION_CATEGORIES = 12
_ENOUGH_NODES = 14
_EDGES, _NODES, _CATEGORIES, _DEPTH, _WIDTH = DIMENSIONS


def edge_bounds(nodes: int, depth: int, width: int, components: int) -> tuple[int, int] | None:
    """Fewest and most edges of a graph with these measures and at most `components` components; None without
    one.

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
    """The cells that some task graph within the limits, and within the `ranges` of values, realises.

    >>> len(possible_cells())
    67
    >>> len({(cell[0], cell[1], cell[3], cell[4]) for cell in possible_cells()})
    23
    >>> len({(cell[0], cell[1], cell[3], cell[4]) for cell in possible_cells(maximum_components=1)})
    14
    >>> possible_cells(ranges=MeasureRanges(hierarchy=(5, 5), instruction=(5, 5), knowledge=(1, 1)))
    frozenset({('hard', 'hard', 'easy', 'hard', 'easy')})
    """
    found = set()
    allowed = ranges or MeasureRanges()
    fewest, most = allowed.of(_NODES)
    enough = MAXIMUM_SUBTASKS if allowed.describe() else _ENOUGH_NODES
    lowest, highest = allowed.of(_EDGES)
    for nodes in range(max(minimum_size, fewest), min(maximum_size, enough, most) + 1):
        for depth in _inside(allowed.of(_DEPTH), nodes):
            for width in _inside(allowed.of(_WIDTH), nodes):
                bounds = edge_bounds(nodes, depth, width, maximum_components)
                if bounds is None:
                    continue
                least = max(bounds[0], lowest)
                for edges in range(least, min(bounds[1], highest, least + 5) + 1):
                    for categories in _inside(allowed.of(_CATEGORIES), min(nodes, _APPLICATION_CATEGORIES)):
                        found.add(cell_from_measures(edges, nodes, categories, depth, width))
    return frozenset(found)


def _inside(allowed: tuple[int, int], most: int) -> range:
    return range(max(1, allowed[0]), min(most, allowed[1]) + 1)


def contradiction_in(levels: LevelConstraint) -> str:
    """The fewest of the `levels` asked for that no graph combines; empty when some graph has them all.

    >>> contradiction_in(LevelConstraint(instruction=("easy",), hierarchy=("hard",), branch=("easy",)))
    'no graph has instruction easy and hierarchy hard'
    >>> contradiction_in(LevelConstraint(hierarchy=("hard",)))
    ''
    """
    named = levels.constrained()
    for size in range(1, len(named) + 1):
        for chosen in combinations(named, size):
            part = LevelConstraint.model_validate({name: levels.levels(name) for name in chosen})
            if not any(part.allows(cell) for cell in possible_cells()):
                return "no graph has " + part.describe().replace(", ", " and ")
    return ""
