"""The tasks that are still wanted during composition."""

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
"""One task in this many, as a minimum, has a given level of a dimension, or a given capability."""


@dataclass(slots=True)
class Row:
    """Wanted tasks of certain levels."""

    name: str
    levels: LevelConstraint
    cells: frozenset[Cell]
    """Cells that count."""
    count: int
    remaining: int
    """Tasks that are still missing."""
    need: float = 0.0
    """Missing share of the tasks, per open cell."""


class Demand:
    """Tables of wanted tasks; a task counts in one row of every table.

    Quotas form one table. Quotas per level form a table for each dimension, so a cell helps only while
    all its levels are wanted.
    """

    def __init__(
        self, request: CompositionRequest, possible: Collection[Cell], capabilities: Sequence[Capability] = ()
    ) -> None:
        """Make the rows, over the `possible` cells within the request.

        Without quotas, a minimum of tasks of every level and for each of the `capabilities` comes first.
        """
        allowed_cells = frozenset(cell for cell in possible if request.within.allows(cell))

        def row(name: str, levels: LevelConstraint, count: int) -> Row:
            return Row(name, levels, frozenset(filter(levels.allows, allowed_cells)), count, count)

        self._tables = [
            [
                row(f"{dimension} {level}", _level_constraint(dimension, level), count)
                for level, count in levels.items()
            ]
            for dimension, levels in request.level_quotas.items()
        ] or [
            [row(quota.name, quota.levels, quota.count) for quota in request.quotas]
            or [row("", request.within, request.count)]
        ]
        balanced = [_level_constraint(dimension, level) for dimension in DIMENSIONS for level in LEVELS]
        minimums = [(levels, request.wanted // _PER_LEVEL) for levels in balanced]
        minimums += [(constraint_of(item), request.wanted // _PER_CAPABILITY) for item in capabilities]
        has_quotas = request.quotas or request.level_quotas
        self._minimums = [row("", levels, count) for levels, count in minimums if count and not has_quotas]
        self._allowed_cells = allowed_cells
        self._tasks_per_cell: Counter[Cell] = Counter()
        self._rows_of = {
            cell: [[row for row in table if cell in row.cells] for table in (*self._tables, self._minimums)]
            for cell in allowed_cells
        }
        self.open_cells: frozenset[Cell] = frozenset()
        """Cells of which another task is wanted."""
        self._update_open_cells()

    def most_wanted(self, cells: Collection[Cell]) -> Cell:
        """The open cell with the greatest need: scarce rows first, then evenly."""
        return max(cells, key=lambda cell: (self._need_of(cell), -self._tasks_per_cell[cell], cell))

    def add_task(self, cell: Cell) -> None:
        """Count a task of `cell`, in each table in the row with the fewest cells."""
        self._tasks_per_cell[cell] += 1
        *tables, minimums = self._unfilled_rows(cell)
        chosen = [min(rows, key=lambda row: len(row.cells)) for rows in tables]
        for row in (*minimums, *chosen):
            row.remaining -= 1
            self._update_need(row)
        if not all(row.remaining for row in chosen):
            self._update_open_cells()

    def is_scarce(self, cell: Cell) -> bool:
        """Whether a cell counts towards a minimum that is not reached yet."""
        return bool(self._unfilled_rows(cell)[-1])

    def missing(self) -> list[Row]:
        """Unfilled rows, named in words; with several tables, with the levels that the others still want."""
        wanted: dict[Dimension, tuple[Level, ...]] = {}
        rows = [row for table in self._tables for row in table if row.remaining]
        for row in rows if len(self._tables) > 1 else ():
            for dimension, given in row.levels.given().items():
                wanted[dimension] = (*wanted.get(dimension, ()), *given)
        unfilled = []
        for row in rows:
            levels = LevelConstraint.model_validate({**wanted, **row.levels.given()})
            described = levels.describe()
            name = f"{row.name} ({described})" if row.name and row.name != described else described
            cells = frozenset(filter(levels.allows, self._allowed_cells))
            unfilled.append(replace(row, name=name, levels=levels, cells=cells))
        return unfilled

    def _update_open_cells(self) -> None:
        self.open_cells = frozenset(
            cell for cell in self._allowed_cells if all(self._unfilled_rows(cell)[:-1])
        )
        for row in chain(*self._tables, self._minimums):
            self._update_need(row)

    def _update_need(self, row: Row) -> None:
        row.need = row.remaining / row.count / (len(row.cells & self.open_cells) or 1)

    def _unfilled_rows(self, cell: Cell) -> list[list[Row]]:
        """The unfilled rows of a cell for every table, and last those of the minimums."""
        return [[row for row in rows if row.remaining] for rows in self._rows_of[cell]]

    def _need_of(self, cell: Cell) -> float:
        *tables, minimums = self._unfilled_rows(cell)
        return sum(max(row.need for row in rows) for rows in tables) + sum(row.need for row in minimums)


def _level_constraint(dimension: Dimension, level: Level) -> LevelConstraint:
    return LevelConstraint.model_validate({dimension: (level,)})
