"""Constraints with one value per complexity dimension: levels, or finer ranges of values."""

from typing import Generic, Self, TypeVar

from pydantic import model_validator

from taskloom.resources.dimensions import DIMENSIONS, LEVELS, TABLE, Cell, Dimension, Level, by_name
from taskloom.resources.record import Record

Value = TypeVar("Value")


class PerDimension(Record, Generic[Value]):
    """A value for each dimension that has one."""

    dependency: Value | None = None
    """Value for dependency complexity."""
    instruction: Value | None = None
    """Value for instruction complexity."""
    knowledge: Value | None = None
    """Value for knowledge complexity."""
    hierarchy: Value | None = None
    """Value for hierarchy complexity."""
    branch: Value | None = None
    """Value for branch complexity."""

    def given(self) -> dict[Dimension, Value]:
        """The values by dimension, in the order of the table, without missing ones."""
        values: dict[Dimension, Value] = {}
        for dimension in DIMENSIONS:
            value: Value | None = getattr(self, dimension)
            if value is not None:
                values[dimension] = value
        return values


class LevelConstraint(PerDimension[tuple[Level, ...]]):
    """The allowed levels in each dimension; a dimension without any allows all."""

    def levels(self, dimension: Dimension) -> tuple[Level, ...]:
        """The allowed levels of `dimension`, never empty.

        >>> LevelConstraint(branch=("hard",)).levels("branch"), LevelConstraint().levels("branch")
        (('hard',), ('easy', 'medium', 'hard'))
        """
        chosen: tuple[Level, ...] | None = getattr(self, dimension)
        return chosen or LEVELS

    def constrained(self) -> tuple[Dimension, ...]:
        """The dimensions in which not all levels are allowed.

        >>> LevelConstraint(branch=("hard",), hierarchy=()).constrained()
        ('branch',)
        """
        return tuple(dimension for dimension, levels in self.given().items() if levels)

    def allows(self, cell: Cell) -> bool:
        """Whether `cell` meets the constraint.

        >>> LevelConstraint(hierarchy=("hard",)).allows(("hard", "hard", "easy", "hard", "easy"))
        True
        """
        return all(level in self.levels(dimension) for dimension, level in zip(DIMENSIONS, cell, strict=True))

    def describe(self) -> str:
        """The constraint in words: `dependency hard, branch medium or hard`.

        >>> LevelConstraint(branch=("medium", "hard")).describe()
        'branch medium or hard'
        """
        parts = [f"{dimension} {' or '.join(self.levels(dimension))}" for dimension in self.constrained()]
        return ", ".join(parts) or "any levels"


class MeasureRanges(PerDimension[tuple[int, int]]):
    """Smallest and largest value allowed in each dimension, inclusive."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        for dimension, (low, high) in self.given().items():
            maximum = by_name(dimension).highest
            if not 0 <= low <= high <= maximum:
                raise ValueError(
                    f"the range {low}..{high} of {dimension} is not allowed; write lowest..highest, from 0 to"
                    f" {maximum}"
                )
        return self

    def of(self, dimension: Dimension) -> tuple[int, int]:
        """The range of one dimension, by default all of its values.

        >>> MeasureRanges(hierarchy=(5, 6)).of("hierarchy"), MeasureRanges().of("hierarchy")
        ((5, 6), (1, 30))
        """
        limits: tuple[int, int] | None = getattr(self, dimension)
        row = by_name(dimension)
        return limits or (row.lowest, row.highest)

    def within(self, dimension: Dimension, level: Level) -> tuple[int, int]:
        """The lowest and highest value of `level` in the range; no value if the first exceeds the second.

        >>> MeasureRanges(hierarchy=(4, 9)).within("hierarchy", "medium")
        (4, 4)
        """
        smallest, largest = by_name(dimension).values(level)
        low, high = self.of(dimension)
        return max(low, smallest), min(high, largest)

    def describe(self) -> str:
        """The ranges that restrict anything, in words: `hierarchy 5..6, branch 3`.

        >>> MeasureRanges(hierarchy=(5, 6), branch=(3, 3)).describe()
        'hierarchy 5..6, branch 3'
        """
        parts = []
        for row in TABLE:
            low, high = self.of(row.name)
            if (low, high) != (row.lowest, row.highest):
                parts.append(f"{row.name} {low}" if low == high else f"{row.name} {low}..{high}")
        return ", ".join(parts)
