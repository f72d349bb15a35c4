"""Ranges of values in the five dimensions, where levels are too coarse."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from resources.record import Record
from taskgraph.measures.bitmasks import MAXIMUM_SUBTASKS
from taskgraph.measures.complexity import DIMENSIONS, UPPER_BOUNDS, Dimension
from taskgraph.records.task import Level

MOST_EDGES = MAXIMUM_SUBTASKS * (MAXIMUM_SUBTASKS - 1) // 2
"""Edges of the densest graph of `MAXIMUM_SUBTASKS` subtasks."""


class MeasureRanges(Record):
    """Smallest and largest value allowed in each dimension, both included."""

    dependency: tuple[int, int] = (0, MOST_EDGES)
    """Edges."""
    instruction: tuple[int, int] = (1, MAXIMUM_SUBTASKS)
    """Subtasks."""
    knowledge: tuple[int, int] = (1, MAXIMUM_SUBTASKS)
    """Application categories."""
    hierarchy: tuple[int, int] = (1, MAXIMUM_SUBTASKS)
    """Depth: nodes on the longest path."""
    branch: tuple[int, int] = (1, MAXIMUM_SUBTASKS)
    """Width: maximum antichain."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        for dimension in DIMENSIONS:
            low, high = self.of(dimension)
            most = MOST_EDGES if dimension == "dependency" else MAXIMUM_SUBTASKS
            if not 0 <= low <= high <= most:
                raise ValueError(
                    f"the range {low}..{high} of {dimension} is none; write lowest..highest, from 0 to {most}"
                )
        return self

    def of(self, dimension: Dimension) -> tuple[int, int]:
        """The range of one dimension.

        >>> MeasureRanges(hierarchy=(5, 6)).of("hierarchy")
        (5, 6)
        """
        found: tuple[int, int] = getattr(self, dimension)
        return found

    def within(self, dimension: Dimension, level: Level) -> tuple[int, int]:
        """The values of `level` that are in the range, from the lowest to the highest; empty when low is above high.

        >>> MeasureRanges(hierarchy=(4, 9)).within("hierarchy", "medium")
        (4, 4)
        """
        easy, medium = UPPER_BOUNDS[dimension]
        values = {"easy": (0, easy), "medium": (easy + 1, medium), "hard": (medium + 1, MOST_EDGES)}[level]
        low, high = self.of(dimension)
        return max(low, values[0]), min(high, values[1])

    def describe(self) -> str:
        """The ranges that say anything: `hierarchy 5..6, branch 3`.

        >>> MeasureRanges(hierarchy=(5, 6), branch=(3, 3)).describe()
        'hierarchy 5..6, branch 3'
        """
        free = MeasureRanges.model_fields
        parts = []
        for dimension in DIMENSIONS:
            low, high = self.of(dimension)
            if (low, high) != free[dimension].default:
                parts.append(f"{dimension} {low}" if low == high else f"{dimension} {low}..{high}")
        return ", ".join(parts)
