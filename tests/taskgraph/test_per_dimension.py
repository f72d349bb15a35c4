"""Ranges of values, and the cells that exist within them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from taskloom.resources.dimensions import DIMENSIONS, LEVELS, by_name
from taskloom.taskgraph.measures.cells import contradiction_in, possible_cells
from taskloom.taskgraph.measures.complexity import cell_from_measures, shape_of
from taskloom.taskgraph.measures.per_dimension import LevelConstraint, MeasureRanges
from tests.taskgraph.small_graphs import every_graph


@pytest.mark.parametrize(
    "ranges",
    [
        MeasureRanges(dependency=(2, 3)),
        MeasureRanges(instruction=(3, 4), branch=(2, 2)),
        MeasureRanges(hierarchy=(3, 3), knowledge=(2, 4), dependency=(0, 5)),
        MeasureRanges(hierarchy=(4, 4), branch=(3, 5)),
    ],
)
def test_cells_within_ranges_equal_brute_force_over_all_small_graphs(ranges: MeasureRanges) -> None:
    found = set()
    for size in range(1, 6):
        for predecessors in every_graph(size):
            shape = shape_of(predecessors)
            for categories in range(1, size + 1):
                measures = (shape.edges, size, categories, shape.depth, shape.width)
                pairs = zip(DIMENSIONS, measures, strict=True)
                if all(ranges.of(name)[0] <= value <= ranges.of(name)[1] for name, value in pairs):
                    found.add(cell_from_measures(*measures))
    assert found == possible_cells(maximum_size=5, ranges=ranges)


def test_the_values_of_a_level_within_a_range_are_of_that_level() -> None:
    ranges = MeasureRanges(hierarchy=(2, 7))
    for name in LEVELS:
        low, high = ranges.within("hierarchy", name)
        expected = [value for value in range(2, 8) if by_name("hierarchy").level(value) == name]
        assert list(range(low, high + 1)) == expected


def test_a_contradiction_names_no_more_than_it_takes() -> None:
    for dependency in LEVELS:
        for hierarchy in LEVELS:
            asked = LevelConstraint(dependency=(dependency,), hierarchy=(hierarchy,), knowledge=("easy",))
            exists = any(asked.allows(cell) for cell in possible_cells())
            expected = "" if exists else f"no graph has dependency {dependency} and hierarchy {hierarchy}"
            assert contradiction_in(asked) == expected


@pytest.mark.parametrize("wrong", [(5, 4), (-1, 3), (1, 31)])
def test_refuses_what_is_no_range(wrong: str) -> None:
    with pytest.raises(
        ValidationError, match=r"of hierarchy is not allowed; write lowest\.\.highest, from 0 to 30"
    ):
        MeasureRanges(hierarchy=wrong)


def test_describes_only_what_it_restricts() -> None:
    assert MeasureRanges().describe() == ""
    assert MeasureRanges(branch=(2, 2), dependency=(1, 4)).describe() == "dependency 1..4, branch 2"
