"""The five complexity dimensions (section 3.1, Table 2) as one table.

Levels, cells, constraints, SQL, pages of the viewer and options of the command line are derived from it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Literal, get_args

Dimension = Literal["dependency", "instruction", "knowledge", "hierarchy", "branch"]
"""The name of a dimension."""

Level = Literal["easy", "medium", "hard"]
"""The name of a level."""

Measure = Literal["edges", "nodes", "application_categories", "depth", "width"]
"""What a dimension measures: a field of the complexity record."""

LEVELS: tuple[Level, ...] = get_args(Level)
"""The levels, from the easiest."""

Cell = tuple[Level, ...]
"""One level per dimension, in the order of the table."""

MAXIMUM_SUBTASKS = 30
"""Maximum number of subtasks of a task graph."""

MOST_EDGES = MAXIMUM_SUBTASKS * (MAXIMUM_SUBTASKS - 1) // 2
"""Edges of the densest graph of `MAXIMUM_SUBTASKS` subtasks."""

EXAMPLE_LEVELS = "hierarchy=hard,branch=medium|hard"
"""Example of levels on the command line."""

EXAMPLE_CHOICE = "dependency=hard,branch=easy"
"""Example of one level per dimension on the command line."""

EXAMPLE_RANGE = "instruction=6..8"
"""Example of a range of values on the command line."""


@dataclass(frozen=True, slots=True)
class DimensionDefinition:
    """A row of the table."""

    name: Dimension
    """Name in settings, columns and reports; the column of its level is `<name>_level`."""
    measure: Measure
    column: str
    """Column of the measure in the table `tasks`."""
    singular: str
    """Singular of what is counted; empty if the measure is a length."""
    plural: str
    """Plural of what is counted, or name of the length."""
    meaning: str
    """What is measured, for readers who do not know the paper."""
    easy: int
    """Largest easy value."""
    medium: int
    """Largest medium value."""
    lowest: int = 1
    """Smallest value of a graph with subtasks."""
    highest: int = MAXIMUM_SUBTASKS
    """Largest value."""
    on_map: Literal["row", "column", ""] = ""
    """Its axis on the viewer's map of cells; dimensions without one are aggregated."""
    more_by: str = ""
    """What allows composing more tasks of its higher levels."""

    @property
    def level_column(self) -> str:
        """Name of the level's field in the complexity record, and of its column."""
        return f"{self.name}_level"

    def level(self, value: int) -> Level:
        """The level of a value of this dimension (Table 2).

        >>> by_name("dependency").level(1), by_name("hierarchy").level(4), by_name("branch").level(5)
        ('easy', 'medium', 'hard')
        """
        if value <= self.easy:
            return "easy"
        return "medium" if value <= self.medium else "hard"

    def values(self, level: Level) -> tuple[int, int]:
        """Smallest and largest value of a level.

        >>> by_name("hierarchy").values("medium")
        (3, 4)
        """
        return {
            "easy": (0, self.easy),
            "medium": (self.easy + 1, self.medium),
            "hard": (self.medium + 1, MOST_EDGES),
        }[level]

    def in_words(self, value: int) -> str:
        """A value with its unit.

        >>> by_name("dependency").in_words(1), by_name("hierarchy").in_words(3)
        ('1 edge', 'depth 3')
        """
        if not self.singular:
            return f"{self.plural} {value}"
        return f"{value} {self.singular if value == 1 else self.plural}"


TABLE: tuple[DimensionDefinition, ...] = (
    DimensionDefinition(
        name="dependency",
        measure="edges",
        column="edge_count",
        singular="edge",
        plural="edges",
        meaning="edges of the graph",
        easy=1,
        medium=3,
        lowest=0,
        highest=MOST_EDGES,
        on_map="row",
        more_by=(
            "subtasks that read what two others make, and a larger composition.maximum_size or"
            " composition.maximum_readers"
        ),
    ),
    DimensionDefinition(
        name="instruction",
        measure="nodes",
        column="node_count",
        singular="subtask",
        plural="subtasks",
        meaning="subtasks",
        easy=2,
        medium=4,
        on_map="row",
        more_by="a larger composition.maximum_size",
    ),
    DimensionDefinition(
        name="knowledge",
        measure="application_categories",
        column="application_category_count",
        singular="application category",
        plural="application categories",
        meaning="application categories",
        easy=1,
        medium=3,
        more_by=(
            "subtasks that take what applications of further categories make, and a larger"
            " composition.maximum_size"
        ),
    ),
    DimensionDefinition(
        name="hierarchy",
        measure="depth",
        column="depth",
        singular="",
        plural="depth",
        meaning="depth: the longest chain",
        easy=2,
        medium=4,
        on_map="column",
        more_by=(
            "subtasks that work on with what others make, for longer chains, and a larger"
            " composition.maximum_size"
        ),
    ),
    DimensionDefinition(
        name="branch",
        measure="width",
        column="width",
        singular="",
        plural="width",
        meaning="width: the most subtasks that do not depend on each other",
        easy=2,
        medium=4,
        on_map="column",
        more_by="a larger composition.maximum_ends or composition.maximum_readers",
    ),
)
"""The dimensions in the order of Table 2, with their bounds."""

DIMENSIONS: tuple[Dimension, ...] = tuple(row.name for row in TABLE)
"""Names of the dimensions; a cell lists its levels in this order."""

EVERY_CELL: tuple[Cell, ...] = tuple(product(LEVELS, repeat=len(TABLE)))
"""All combinations of levels, including those that no graph can have."""

_BY_NAME = {row.name: row for row in TABLE}
_BY_MEASURE = {row.measure: row for row in TABLE}


def by_name(name: Dimension) -> DimensionDefinition:
    """The row of a dimension."""
    return _BY_NAME[name]


def by_measure(measure: Measure) -> DimensionDefinition:
    """The row of the dimension with this measure.

    >>> by_measure("nodes").name
    'instruction'
    """
    return _BY_MEASURE[measure]


def level_in(cell: Cell, measure: Measure) -> Level:
    """The level of `cell` in the dimension with this measure.

    >>> level_in(("hard", "medium", "easy", "easy", "hard"), "width")
    'hard'
    """
    return cell[DIMENSIONS.index(_BY_MEASURE[measure].name)]


def once_per_dimension(text: str) -> str:
    """The text with every line that contains `{dimension}` repeated for each dimension, with its name and
    `{meaning}` filled in.

    >>> once_per_dimension("{dimension}_level,").splitlines()[1]
    'instruction_level,'
    """

    def lines() -> Iterable[str]:
        for line in text.split("\n"):
            if "{dimension}" not in line:
                yield line
                continue
            for row in TABLE:
                yield line.replace("{dimension}", row.name).replace("{meaning}", row.meaning)

    return "\n".join(lines())
