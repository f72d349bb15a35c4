"""What is still wanted while tasks are composed: quotas, filled evenly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from math import ceil
from typing import Protocol

from taskloom.resources.dimensions import DIMENSIONS, LEVELS, Cell, Dimension, Level
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.taskgraph.measures.per_dimension import LevelConstraint


class Demand(Protocol):
    """Decides which cell the next task is to come from."""

    def open_cells(self) -> frozenset[Cell]:
        """Cells of which another task would help."""

    def urgent_cells(self) -> frozenset[Cell]:
        """Those of them that have not had their even share yet."""

    def pick(self, available: Iterable[Cell]) -> tuple[Cell, int] | None:
        """The cell to take the next tasks from, of those `available`, and how many; None when none may give
        one now."""

    def take(self, cell: Cell) -> None:
        """Count a task of `cell`."""

    def relax(self, dry: Set[Cell]) -> bool:
        """Share out again what the `dry` cells cannot give; False when nothing more can be had."""

    def missing(self) -> list[Missing]:
        """What is still wanted."""


@dataclass(frozen=True, slots=True)
class Missing:
    """Tasks of a quota that were not taken."""

    wanted: str
    """The quota in words."""
    levels: LevelConstraint
    """Levels that would have counted."""
    count: int
    cells: frozenset[Cell]
    """Cells that would have counted."""


@dataclass(slots=True)
class _Bucket:
    """One quota with the cells that count towards it."""

    name: str
    levels: LevelConstraint
    cells: frozenset[Cell]
    count: int
    taken: int = 0
    per_cell: Counter[Cell] = field(default_factory=Counter)
    ceiling: int = 0
    closed: bool = False

    @property
    def left(self) -> int:
        return 0 if self.closed else self.count - self.taken


class QuotaDemand:
    """Quotas over sets of cells; each is filled like water, lowest cell first."""

    def __init__(self, request: CompositionRequest, possible: frozenset[Cell]) -> None:
        """Make one bucket per quota over the `possible` cells within the request; a task goes to one
        bucket."""
        inside = frozenset(cell for cell in possible if request.within.allows(cell))
        self._buckets = [
            _Bucket(
                _named(quota.name, quota.levels), quota.levels, _allowed(quota.levels, inside), quota.count
            )
            for quota in request.quotas
        ] or [_Bucket(request.within.describe(), request.within, inside, request.count)]
        for bucket in self._buckets:
            bucket.ceiling = ceil(bucket.count / len(bucket.cells)) if bucket.cells else 0

    def open_cells(self) -> frozenset[Cell]:
        """Cells of which another task would help."""
        return frozenset().union(*(bucket.cells for bucket in self._buckets if bucket.left))

    def urgent_cells(self) -> frozenset[Cell]:
        """Cells below their even share in some bucket."""
        return frozenset(
            cell
            for bucket in self._buckets
            if bucket.left
            for cell in bucket.cells
            if bucket.per_cell[cell] < bucket.ceiling
        )

    def pick(self, available: Iterable[Cell]) -> tuple[Cell, int] | None:
        """The available cell that is furthest below the ceiling of a bucket, and by how much it is."""
        best: tuple[int, Cell] | None = None
        for cell in available:
            for bucket in self._buckets:
                if bucket.left and cell in bucket.cells:
                    room = min(bucket.ceiling - bucket.per_cell[cell], bucket.left)
                    if room > 0 and (best is None or (-room, cell) < best):
                        best = (-room, cell)
        return (best[1], -best[0]) if best else None

    def take(self, cell: Cell) -> None:
        """Count a task towards the first bucket that wants it, the one with fewest cells first."""
        wanting = [bucket for bucket in self._buckets if bucket.left and cell in bucket.cells]
        chosen = min(wanting, key=lambda bucket: (bucket.per_cell[cell] >= bucket.ceiling, len(bucket.cells)))
        chosen.taken += 1
        chosen.per_cell[cell] += 1

    def relax(self, dry: Set[Cell]) -> bool:
        """Raise the level of every bucket over the cells that still give."""
        raised = False
        for bucket in self._buckets:
            if not bucket.left:
                continue
            giving = bucket.cells - dry
            if not giving:
                bucket.closed = True
                continue
            lowest = min(bucket.per_cell[cell] for cell in giving)
            bucket.ceiling = max(bucket.ceiling, lowest) + ceil(bucket.left / len(giving))
            raised = True
        return raised

    def missing(self) -> list[Missing]:
        """Buckets that were not filled."""
        return [
            Missing(bucket.name, bucket.levels, bucket.count - bucket.taken, bucket.cells)
            for bucket in self._buckets
            if bucket.taken < bucket.count
        ]


class LevelDemand:
    """Quotas per level of each dimension: every task counts once in each dimension named."""

    def __init__(self, request: CompositionRequest, possible: frozenset[Cell]) -> None:
        """Note what is wanted per level; levels of a named dimension that are not named are not wanted."""
        self._cells = frozenset(cell for cell in possible if request.within.allows(cell))
        self._wanted: dict[tuple[Dimension, Level], int] = {
            (dimension, name): count
            for dimension, levels in request.level_quotas.items()
            for name, count in levels.items()
        }
        self._left = dict(self._wanted)
        self._named = tuple(request.level_quotas)
        self._share = max(1, request.wanted // max(1, len(self._cells)))
        self._taken: Counter[Cell] = Counter()

    def open_cells(self) -> frozenset[Cell]:
        """Cells whose every named level is still wanted."""
        return frozenset(
            cell for cell in self._cells if all(self._left.get(key, 0) > 0 for key in self._keys(cell))
        )

    def urgent_cells(self) -> frozenset[Cell]:
        """Open cells with a level that few other open cells can serve."""
        cells = self.open_cells()
        return frozenset(cell for cell in cells if self._taken[cell] < self._share)

    def pick(self, available: Iterable[Cell]) -> tuple[Cell, int] | None:
        """The available cell whose levels are furthest behind, once; scarce levels weigh more."""
        cells = self.open_cells()
        supply = Counter(key for cell in cells for key in self._keys(cell))

        def need(cell: Cell) -> tuple[float, int, Cell]:
            weight = sum(self._left[key] / self._wanted[key] / supply[key] for key in self._keys(cell))
            return (weight, -self._taken[cell], cell)

        best = max((cell for cell in available if cell in cells), key=need, default=None)
        return (best, 1) if best else None

    def take(self, cell: Cell) -> None:
        """Count a task in every named dimension."""
        self._taken[cell] += 1
        for key in self._keys(cell):
            self._left[key] -= 1

    def relax(self, dry: Set[Cell]) -> bool:
        """Go on while some open cell still gives."""
        self._share = 2 * self._share + 1
        return bool(self.open_cells() - dry)

    def missing(self) -> list[Missing]:
        """Levels that were not filled; what counts for one is a task whose other levels are still wanted
        too."""
        wanted = {
            dimension: tuple(name for name in LEVELS if self._left.get((dimension, name), 0) > 0)
            for dimension in self._named
        }
        found = []
        for (dimension, name), left in self._left.items():
            if left > 0:
                levels = LevelConstraint.model_validate(wanted | {dimension: (name,)})
                found.append(
                    Missing(
                        _named(f"{dimension} {name}", levels), levels, left, _allowed(levels, self._cells)
                    )
                )
        return found

    def _keys(self, cell: Cell) -> list[tuple[Dimension, Level]]:
        return [(dimension, cell[DIMENSIONS.index(dimension)]) for dimension in self._named]


def demand_of(request: CompositionRequest, possible: frozenset[Cell]) -> Demand:
    """The demand that a request makes on the `possible` cells."""
    return LevelDemand(request, possible) if request.level_quotas else QuotaDemand(request, possible)


def _named(name: str, levels: LevelConstraint) -> str:
    """A quota in words: its name, if it has one, and its levels."""
    described = levels.describe()
    return f"{name} ({described})" if name and name != described else described


def _allowed(levels: LevelConstraint, cells: frozenset[Cell]) -> frozenset[Cell]:
    return frozenset(cell for cell in cells if levels.allows(cell))
