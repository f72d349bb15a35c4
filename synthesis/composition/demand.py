"""What is still wanted while tasks are composed."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from taskloom.resources.capability_presets import Capability
from taskloom.resources.dimensions import DIMENSIONS, LEVELS, Cell, Dimension, Level
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.taskgraph.measures.complexity import constraint_of
from taskloom.taskgraph.measures.per_dimension import LevelConstraint

_PER_LEVEL, _PER_CAPABILITY = 8, 20
"""Of so many tasks one is of any level of a dimension, and one for any capability."""


@dataclass(slots=True)
class Row:
    """Tasks wanted of some levels."""

    name: str
    levels: LevelConstraint
    cells: frozenset[Cell]
    """Cells that count."""
    count: int
    left: int
    """Tasks that are still lacking."""
    need: float = 0.0
    """How much is lacking for each of the open cells."""


class Demand:
    """Tables of what is wanted: a task counts in one row of every table.

    Quotas are one table; quotas per level are a table for each dimension, so that a cell helps only while all
    its levels are wanted.
    """

    def __init__(
        self, request: CompositionRequest, possible: Collection[Cell], capabilities: Sequence[Capability] = ()
    ) -> None:
        """Make the rows, over the `possible` cells within the request.

        Where no quotas say what is wanted, it is at first some tasks of every level and for each of the
        `capabilities`.
        """
        inside = frozenset(cell for cell in possible if request.within.allows(cell))

        def row(name: str, levels: LevelConstraint, count: int) -> Row:
            return Row(name, levels, frozenset(filter(levels.allows, inside)), count, count)

        self._tables = [
            [row(f"{dimension} {level}", _only(dimension, level), count) for level, count in levels.items()]
            for dimension, levels in request.level_quotas.items()
        ] or [
            [row(quota.name, quota.levels, quota.count) for quota in request.quotas]
            or [row("", request.within, request.count)]
        ]
        balanced = [_only(dimension, level) for dimension in DIMENSIONS for level in LEVELS]
        least = [(levels, request.wanted // _PER_LEVEL) for levels in balanced]
        least += [(constraint_of(item), request.wanted // _PER_CAPABILITY) for item in capabilities]
        is_free = not (request.quotas or request.level_quotas)
        self._least = [row("", levels, count) for levels, count in least if count and is_free]
        self._inside = inside
        self._taken: Counter[Cell] = Counter()
        self._rows_of = {
            cell: [[row for row in table if cell in row.cells] for table in (*self._tables, self._least)]
            for cell in inside
        }
        self.open_cells: frozenset[Cell] = frozenset()
        """Cells of which another task would help."""
        self._open()

    def most_wanted(self, cells: Collection[Cell]) -> Cell:
        """Of open cells, that of which most is lacking: of scarce rows first, then evenly."""
        return max(cells, key=lambda cell: (self._need(cell), -self._taken[cell], cell))

    def take(self, cell: Cell) -> None:
        """Count a task of `cell`, in each table towards the row that fewest cells can serve."""
        self._taken[cell] += 1
        *tables, least = self._wanting(cell)
        chosen = [min(rows, key=lambda row: len(row.cells)) for rows in tables]
        for row in (*least, *chosen):
            row.left -= 1
            self._measure(row)
        if not all(row.left for row in chosen):
            self._open()

    def is_scarce(self, cell: Cell) -> bool:
        """Whether a cell counts for a level or a capability of which some are still lacking."""
        return bool(self._wanting(cell)[-1])

    def missing(self) -> list[Row]:
        """Rows that were not filled, named in words; where there are several tables, with what the others
        still want."""
        wanted: dict[Dimension, tuple[Level, ...]] = {}
        rows = [row for table in self._tables for row in table if row.left]
        for row in rows if len(self._tables) > 1 else ():
            for dimension, given in row.levels.given().items():
                wanted[dimension] = (*wanted.get(dimension, ()), *given)
        found = []
        for row in rows:
            levels = LevelConstraint.model_validate({**wanted, **row.levels.given()})
            described = levels.describe()
            name = f"{row.name} ({described})" if row.name and row.name != described else described
            cells = frozenset(filter(levels.allows, self._inside))
            found.append(replace(row, name=name, levels=levels, cells=cells))
        return found

    def _open(self) -> None:
        self.open_cells = frozenset(cell for cell in self._inside if all(self._wanting(cell)[:-1]))
        for row in chain(*self._tables, self._least):
            self._measure(row)

    def _measure(self, row: Row) -> None:
        row.need = row.left / row.count / (len(row.cells & self.open_cells) or 1)

    def _wanting(self, cell: Cell) -> list[list[Row]]:
        """For every table, and at last for what is wanted at first, the rows of a cell that lack tasks."""
        return [[row for row in rows if row.left] for rows in self._rows_of[cell]]

    def _need(self, cell: Cell) -> float:
        *tables, least = self._wanting(cell)
        return sum(max(row.need for row in rows) for rows in tables) + sum(row.need for row in least)


def _only(dimension: Dimension, level: Level) -> LevelConstraint:
    return LevelConstraint.model_validate({dimension: (level,)})
