"""The five dimensions, their levels, and which combinations exist."""

from __future__ import annotations

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.resources.dimensions import DIMENSIONS, LEVELS, Dimension, by_name
from taskloom.taskgraph.errors import GraphTooLargeError
from taskloom.taskgraph.measures.complexity import (
    cell_from_measures,
    cell_of,
    complexity_from_shape,
    complexity_of,
    depth_by_instance,
    shape_of,
)
from tests.taskgraph.small_graphs import graphs, node, shaped


@given(graphs(7))
def test_measures_agree_with_networkx(predecessors: tuple[int, ...]) -> None:
    graph = shaped(predecessors).to_networkx()
    shape = shape_of(predecessors)
    layers = list(networkx.topological_generations(graph))
    assert shape.nodes == graph.number_of_nodes()
    assert shape.edges == graph.number_of_edges()
    assert shape.depth == len(layers)
    assert shape.width == max(len(chain) for chain in networkx.antichains(graph))
    assert shape.largest_layer == max(map(len, layers)) <= shape.width
    assert shape.components == networkx.number_weakly_connected_components(graph)


@given(graphs(7), st.integers(1, 12))
def test_levels_are_those_of_the_measures(predecessors: tuple[int, ...], categories: int) -> None:
    shape = shape_of(predecessors)
    complexity = complexity_from_shape(shape, categories)
    measures = (shape.edges, shape.nodes, categories, shape.depth, shape.width)
    assert (
        cell_of(complexity)
        == tuple(by_name(name).level(value) for name, value in zip(DIMENSIONS, measures, strict=True))
        == cell_from_measures(*measures)
    )


@pytest.mark.parametrize(
    ("dimension", "easy", "medium", "hard"),
    [
        ("dependency", 1, 3, 4),
        ("instruction", 2, 4, 5),
        ("knowledge", 1, 3, 4),
        ("hierarchy", 2, 4, 5),
        ("branch", 2, 4, 5),
    ],
)
def test_levels_are_those_of_table_2(dimension: Dimension, easy: int, medium: int, hard: int) -> None:
    assert [by_name(dimension).level(value) for value in (easy, easy + 1, medium, hard)] == [
        "easy",
        "medium",
        "medium",
        "hard",
    ]


def test_two_resources_between_one_pair_are_one_edge_and_categories_count_once() -> None:
    graph = shaped((0, 0b1, 0b1), "aab")
    complexity = complexity_of(graph)
    assert (complexity.edges, complexity.application_categories, complexity.depth) == (2, 2, 2)
    assert cell_of(complexity) == cell_from_measures(2, 3, 2, 2, 2)
    assert depth_by_instance(graph) == {"s0": 1, "s1": 2, "s2": 2}


def test_counts_the_largest_layer_beside_the_width() -> None:
    zigzag = (0, 0b1, 0, 0b100, 0b1000, 0)
    shape = shape_of(zigzag)
    assert (shape.width, shape.largest_layer, shape.depth) == (3, 3, 3)
    staggered = shape_of((0, 0b1, 0b10, 0b1))
    assert (staggered.width, staggered.largest_layer) == (2, 2)


def test_refuses_too_large_graphs() -> None:
    with pytest.raises(GraphTooLargeError):
        shape_of((0,) * 31)


def test_an_empty_graph_measures_nothing() -> None:
    shape = shape_of(())
    assert (shape.nodes, shape.edges, shape.depth, shape.width, shape.components) == (0, 0, 0, 0, 0)
    assert LEVELS[0] == by_name("instruction").level(shape.nodes)


def test_a_single_subtask_is_easy_in_every_dimension() -> None:
    from taskloom.taskgraph.records.graph import TaskGraph

    assert set(cell_of(complexity_of(TaskGraph(nodes=(node("only"),))))) == {"easy"}
