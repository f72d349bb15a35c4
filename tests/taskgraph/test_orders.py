"""Orders are counted, listed and sampled exactly."""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations
from math import factorial

import networkx
import pytest
from hypothesis import given, settings

from taskloom.taskgraph.errors import GraphTooLargeError
from taskloom.taskgraph.measures.orders import OrderTable
from tests.shared_work import examples
from tests.taskgraph.small_graphs import brute_orders, every_graph, graphs
from tests.taskgraph.test_bitmasks import as_networkx


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_counts_and_lists_the_orders_of_every_small_graph(size: int) -> None:
    for predecessors in every_graph(size):
        expected = brute_orders(predecessors)
        assert OrderTable(predecessors).listed(100) == expected
        assert [one for one in permutations(range(size)) if OrderTable(predecessors).holds(one)] == expected
        assert OrderTable(predecessors).count() == len(expected)


@settings(max_examples=examples(13, 40))
@given(graphs(7))
def test_counts_as_many_orders_as_networkx_lists(predecessors: tuple[int, ...]) -> None:
    assert OrderTable(predecessors).count() == sum(
        1 for _ in networkx.all_topological_sorts(as_networkx(predecessors))
    )


def test_lists_only_up_to_the_limit() -> None:
    assert OrderTable((0,) * 6).listed(3) == [(0, 1, 2, 3, 4, 5), (0, 1, 2, 3, 5, 4), (0, 1, 2, 4, 3, 5)]


def test_samples_are_different_and_uniform() -> None:
    predecessors = (0, 0b1, 0, 0b100, 0)
    expected = brute_orders(predecessors)
    generator = random.Random(5)
    drawn = Counter(OrderTable(predecessors).sampled(1, generator)[0] for _ in range(3000))
    assert set(drawn) == set(expected)
    chi_squared = sum((drawn[order] - 100) ** 2 / 100 for order in expected)
    assert chi_squared < 60  # 29 degrees of freedom: exceeded once in a thousand seeds
    assert len(set(OrderTable(predecessors).sampled(30, generator))) == 30


def test_refuses_to_sample_more_orders_than_there_are() -> None:
    with pytest.raises(ValueError, match="There are 2 orders"):
        OrderTable((0, 0)).sampled(3, random.Random(0))


def test_thirty_independent_or_star_shaped_subtasks_are_immediate() -> None:
    assert OrderTable((0,) * 30).count() == factorial(30)
    assert OrderTable((0, *(1,) * 29)).count() == factorial(29)
    assert OrderTable((*(0,) * 29, (1 << 29) - 1)).count() == factorial(29)


def test_refuses_graphs_that_cannot_be_counted_instead_of_running_on() -> None:
    generator = random.Random(1)
    tangled = [0] * 15 + [sum(1 << n for n in generator.sample(range(15), 7)) for _ in range(15)]
    with pytest.raises(GraphTooLargeError, match="states"):
        OrderTable(tangled, maximum_states=2_000).count()
    with pytest.raises(GraphTooLargeError, match="31 subtasks"):
        OrderTable((0,) * 31)


def test_a_cyclic_relation_has_no_order() -> None:
    assert OrderTable((0b10, 0b01)).count() == 0
