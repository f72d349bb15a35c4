"""The closed form of the cells that exist, against all graphs with up to five nodes."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from taskloom.resources.dimensions import DIMENSIONS, LEVELS, Cell, Level
from taskloom.taskgraph.measures.cells import contradiction_in, edge_bounds, possible_cells
from taskloom.taskgraph.measures.complexity import cell_from_measures, shape_of
from taskloom.taskgraph.measures.per_dimension import LevelConstraint
from tests.taskgraph.small_graphs import every_graph


@pytest.mark.parametrize("components", [1, 2, 3, 5])
def test_equals_brute_force_over_all_small_graphs(components: int) -> None:
    found = set()
    for size in range(1, 6):
        for predecessors in every_graph(size):
            shape = shape_of(predecessors)
            if shape.components > components:
                continue
            low, high = edge_bounds(size, shape.depth, shape.width, components)  # type: ignore[misc]
            assert low <= shape.edges <= high
            for categories in range(1, size + 1):
                found.add(cell_from_measures(shape.edges, size, categories, shape.depth, shape.width))
    assert found == possible_cells(maximum_size=5, maximum_components=components)


def test_sixty_seven_cells_exist_twenty_three_without_knowledge_and_fourteen_connected() -> None:
    def without_knowledge(cells: Iterable[Cell]) -> set[tuple[Level, Level, Level, Level]]:
        return {(cell[0], cell[1], cell[3], cell[4]) for cell in cells}

    assert len(possible_cells()) == 67
    assert len(without_knowledge(possible_cells())) == 23
    assert len(without_knowledge(possible_cells(maximum_components=1))) == 14
    assert [len(possible_cells(maximum_size=size)) for size in (6, 8, 9)] == [55, 64, 67]


def test_says_why_a_cell_does_not_exist() -> None:
    impossible = LevelConstraint(
        dependency=("easy",),
        instruction=("hard",),
        knowledge=("easy",),
        hierarchy=("hard",),
        branch=("easy",),
    )
    assert "dependency easy and hierarchy hard" in contradiction_in(impossible)
    assert contradiction_in(LevelConstraint.model_validate(dict.fromkeys(DIMENSIONS, ("hard",)))) == ""


def test_a_constraint_allows_exactly_its_levels() -> None:
    constraint = LevelConstraint(hierarchy=("hard",), branch=("easy", "medium"))
    allowed = {cell for cell in possible_cells() if constraint.allows(cell)}
    assert allowed == {cell for cell in possible_cells() if cell[3] == "hard" and cell[4] != "hard"}
    assert constraint.describe() == "hierarchy hard, branch easy or medium"
    assert constraint.levels("dependency") == LEVELS
