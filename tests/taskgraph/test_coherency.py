"""The maximum coherency score is exact."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskloom.taskgraph.errors import GraphTooLargeError
from taskloom.taskgraph.measures.coherency import (
    coherency_score,
    continuity,
    easier_order,
    maximum_coherency,
    maximum_coherency_of,
)
from tests.shared_work import examples
from tests.taskgraph.small_graphs import (
    brute_orders,
    clipboard,
    every_graph,
    file,
    graphs,
    is_order,
    linked,
    node,
    shaped,
)


def brute_maximum(predecessors: tuple[int, ...], applications: Sequence[str]) -> int:
    return max(
        coherency_score([applications[node] for node in order]) for order in brute_orders(predecessors)
    )


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_is_exact_for_every_small_graph(size: int) -> None:
    for predecessors in every_graph(size):
        for applications in ("aaaa", "abab", "aabb", "abca", "abcd"):
            expected = brute_maximum(predecessors, applications)
            assert maximum_coherency(predecessors, applications[:size]) == expected


@settings(max_examples=examples(50, 150))
@given(graphs(7), st.lists(st.sampled_from("abc"), min_size=7, max_size=7))
def test_is_exact_for_random_graphs(predecessors: tuple[int, ...], applications: Sequence[str]) -> None:
    chosen = applications[: len(predecessors)]
    assert maximum_coherency(predecessors, chosen) == brute_maximum(predecessors, chosen)


@given(st.lists(st.sampled_from("ab"), max_size=8))
def test_score_counts_adjacent_pairs_of_one_application(applications: Sequence[str]) -> None:
    runs = sum(1 for i, name in enumerate(applications) if i == 0 or applications[i - 1] != name)
    assert coherency_score(applications) == len(applications) - runs


def test_four_interleaved_chains_are_still_exact() -> None:
    predecessors = tuple(0 if node < 4 else 1 << node - 4 for node in range(28))
    applications = ["abcd"[(node + node // 4) % 4] for node in range(28)]
    # abcdabcdab, ten runs, holds all four rotations of abcdabc; nine runs cannot: 28 - 10
    assert maximum_coherency(predecessors, applications) == 18


def test_of_a_graph_uses_its_applications() -> None:
    assert maximum_coherency_of(shaped((0, 0b1, 0), "aba")) == 1


@settings(max_examples=examples(30, 100))
@given(graphs(7), st.text("abc", min_size=7, max_size=7), st.integers(0))
def test_an_easier_order_is_an_order_and_no_harder_to_follow(
    predecessors: tuple[int, ...], applications: str, chosen: int
) -> None:
    graph = shaped(predecessors, applications[: len(predecessors)])
    predecessors = graph.predecessors
    orders = brute_orders(predecessors)
    given_order = orders[chosen % len(orders)]
    names = [item.instance_id for item in graph.nodes]

    def score(order: Sequence[int]) -> int:
        return continuity(graph, [names[number] for number in order])

    found = easier_order(graph, [given_order])
    assert is_order(predecessors, found)
    assert score(given_order) <= score(found) <= max(map(score, orders))
    assert easier_order(graph, orders[:50]) == easier_order(graph, [max(orders[:50], key=score)])


def test_one_subtask_that_stands_apart_joins_its_like() -> None:
    graph = shaped((0,) * 9, "abacadaea")
    found = easier_order(graph, [tuple(range(9))])
    assert coherency_score(["abacadaea"[number] for number in found]) == 4


def test_a_text_in_the_clipboard_is_pasted_before_anything_else_is_begun() -> None:
    write = node("write", outputs=(file("a"),))
    copy, paste = node("copy", outputs=(clipboard("b"),)), node("paste", inputs=(clipboard("b"),))
    graph = linked(write, copy, node("read", inputs=(file("a"),)), paste)
    found = [graph.nodes[number].instance_id for number in easier_order(graph, [(0, 1, 2, 3)])]
    assert found.index("paste") == found.index("copy") + 1 and found.index("read") == found.index("write") + 1


def test_none_without_any_order() -> None:
    assert maximum_coherency((0b10, 0b01), "ab") is None


def test_refuses_too_large_graphs() -> None:
    with pytest.raises(GraphTooLargeError):
        maximum_coherency((0,) * 31, ["a"] * 31)
