"""What is still wanted while tasks are composed."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

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
        self.open_cells = self._open()
        """Cells of which another task would help."""

    def most_wanted(self, cells: Collection[Cell]) -> Cell:
        """Of open cells, that of which most is lacking: of scarce rows first, then evenly."""
        return max(cells, key=lambda cell: (self._need(cell), -self._taken[cell], cell))

    def take(self, cell: Cell) -> None:
        """Count a task of `cell`, in each table towards the row that fewest cells can serve."""
        self._taken[cell] += 1
        for row in self._wanting(self._least, cell):
            row.left -= 1
        for table in self._tables:
            row = min(self._wanting(table, cell), key=lambda row: len(row.cells))
            row.left -= 1
            if not row.left:
                self.open_cells = self._open()

    def is_scarce(self, cell: Cell) -> bool:
        """Whether a cell counts for a level or a capability of which some are still lacking."""
        return bool(self._wanting(self._least, cell))

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

    def _open(self) -> frozenset[Cell]:
        return frozenset(
            cell for cell in self._inside if all(self._wanting(table, cell) for table in self._tables)
        )

    def _wanting(self, table: list[Row], cell: Cell) -> list[Row]:
        return [row for row in table if row.left and cell in row.cells]

    def _need(self, cell: Cell) -> float:
        """How much of the rows of a cell is left, for each of the open cells that can serve them."""

        def needs(table: list[Row]) -> Iterator[float]:
            for row in self._wanting(table, cell):
                yield row.left / row.count / len(row.cells & self.open_cells)

        return sum(max(needs(table)) for table in self._tables) + sum(needs(self._least))


def _only(dimension: Dimension, level: Level) -> LevelConstraint:
    return LevelConstraint.model_validate({dimension: (level,)})
