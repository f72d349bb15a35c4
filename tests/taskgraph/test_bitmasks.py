"""Bitmask mathematics against networkx and brute force."""

from __future__ import annotations

from itertools import combinations

import networkx
import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.taskgraph.bitmasks import (
    ancestors,
    augment,
    bits,
    components,
    cycle_in,
    depths,
    mask_of,
    neighbours,
    parts,
    require_size,
    successors,
    topological_order,
)
from taskloom.taskgraph.errors import GraphInvalidError, GraphTooLargeError
from taskloom.taskgraph.measures.complexity import shape_of
from tests.taskgraph.small_graphs import every_graph, graphs, is_order


def as_networkx(predecessors: tuple[int, ...]) -> nx.DiGraph[int]:
    graph: nx.DiGraph[int] = networkx.DiGraph()
    graph.add_nodes_from(range(len(predecessors)))
    graph.add_edges_from((u, v) for v, mask in enumerate(predecessors) for u in bits(mask))
    return graph


def brute_width(predecessors: tuple[int, ...]) -> int:
    closure = ancestors(predecessors)
    nodes = range(len(predecessors))
    return max(
        len(chosen)
        for size in range(1, len(predecessors) + 1)
        for chosen in combinations(nodes, size)
        if not any(closure[u] >> v & 1 or closure[v] >> u & 1 for u, v in combinations(chosen, 2))
    )


@given(graphs())
def test_topological_order_puts_producers_first(predecessors: tuple[int, ...]) -> None:
    assert is_order(predecessors, tuple(topological_order(predecessors)))


@given(graphs())
def test_depth_is_the_longest_path_that_ends_in_a_node(predecessors: tuple[int, ...]) -> None:
    graph = as_networkx(predecessors)
    longest = networkx.dag_longest_path_length(graph) + 1
    found = depths(predecessors)
    assert max(found) == longest
    for node in graph:
        below = [found[other] for other in graph.predecessors(node)]
        assert found[node] == max(below, default=0) + 1


@given(graphs())
def test_closure_agrees_with_networkx(predecessors: tuple[int, ...]) -> None:
    graph = as_networkx(predecessors)
    assert [set(bits(mask)) for mask in ancestors(predecessors)] == [
        networkx.ancestors(graph, node) for node in range(len(predecessors))
    ]


@given(graphs())
def test_successors_and_neighbours_mirror_predecessors(predecessors: tuple[int, ...]) -> None:
    graph = as_networkx(predecessors)
    assert [set(bits(mask)) for mask in successors(predecessors)] == [
        set(graph.successors(n)) for n in range(len(predecessors))
    ]
    assert [set(bits(mask)) for mask in neighbours(predecessors)] == [
        set(graph.to_undirected().neighbors(n)) for n in range(len(predecessors))
    ]


@given(graphs())
def test_components_agree_with_networkx(predecessors: tuple[int, ...]) -> None:
    expected = {frozenset(part) for part in networkx.weakly_connected_components(as_networkx(predecessors))}
    assert {frozenset(bits(mask)) for mask in components(predecessors)} == expected


@given(graphs())
def test_each_augmentation_matches_one_more_comparable_pair(predecessors: tuple[int, ...]) -> None:
    closure = ancestors(predecessors)
    matched: dict[int, int] = {}
    for node in range(len(predecessors)):
        before = len(matched)
        found, _ = augment(node, closure, matched, 0)
        assert len(matched) == before + found
    assert all(closure[below] >> above & 1 for above, below in matched.items())
    assert len(set(matched.values())) == len(matched) == len(predecessors) - shape_of(predecessors).width


@given(st.integers(1, 5).flatmap(lambda n: st.tuples(*[st.integers(0, 2**n - 1)] * n)))
def test_a_cycle_is_found_exactly_where_networkx_finds_one(predecessors: tuple[int, ...]) -> None:
    graph = as_networkx(predecessors)
    cycle = cycle_in(predecessors)
    assert bool(cycle) == (not networkx.is_directed_acyclic_graph(graph))
    assert len(set(cycle)) == len(cycle)
    assert all(
        graph.has_edge(first, second) for first, second in zip(cycle, cycle[1:] + cycle[:1], strict=True)
    )


def test_parts_looks_only_at_the_nodes_asked_about() -> None:
    assert parts([0b110, 0b1, 0b1], 0b110) == [0b10, 0b100]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_width_is_the_maximum_antichain_of_every_small_graph(size: int) -> None:
    for predecessors in every_graph(size):
        assert shape_of(predecessors).width == brute_width(predecessors)


@given(graphs())
def test_bits_and_mask_are_inverse(predecessors: tuple[int, ...]) -> None:
    for mask in predecessors:
        assert mask_of(list(bits(mask))) == mask


def test_names_the_nodes_of_a_cycle() -> None:
    with pytest.raises(GraphInvalidError, match=r"\[1, 2\]"):
        topological_order((0, 0b101, 0b010))


def test_refuses_more_than_thirty_subtasks() -> None:
    require_size((0,) * 30)
    with pytest.raises(GraphTooLargeError, match="31 subtasks"):
        require_size((0,) * 31)
