"""What sets of subtasks must keep to: how many, how wide, how many of one kind of reader."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from taskloom.resources.dimensions import MAXIMUM_SUBTASKS, by_measure
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.taskgraph.measures.per_dimension import MeasureRanges


@dataclass(frozen=True, slots=True)
class Limits:
    """What a set must keep to."""

    minimum_size: int
    """Fewest members."""
    maximum_size: int
    """Most members."""
    maximum_components: int
    """Most weakly connected components."""
    ranges: MeasureRanges = field(default_factory=MeasureRanges)
    """Values allowed in each dimension."""
    maximum_readers: int = MAXIMUM_SUBTASKS
    """Most members that read what one member makes."""
    maximum_ends: int = MAXIMUM_SUBTASKS
    """Most members whose results no other one reads."""

    @classmethod
    def of(cls, request: CompositionRequest) -> Self:
        """The limits of a request; its range of subtasks narrows its sizes."""
        fewest, most = request.ranges.of(by_measure("nodes").name)
        return cls(
            max(request.minimum_size, fewest),
            min(request.maximum_size, most),
            request.maximum_components,
            request.ranges,
            request.maximum_readers,
            request.maximum_ends,
        )
