"""Which execution sequences are possible, and how coherent they are."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskloom.omnieval.errors import SequenceImpossibleError
from taskloom.omnieval.scoring import executed_coherency, require_possible
from taskloom.taskgraph.measures.interference import orders_of
from taskloom.taskgraph.records.graph import TaskGraph
from tests.shared_work import examples
from tests.taskgraph.small_graphs import graphs, shaped
from tests.taskgraph.test_interference import destructive_graphs, succeeds


def is_possible(graph: TaskGraph, sequence: Sequence[str]) -> bool:
    try:
        require_possible(graph, sequence)
    except SequenceImpossibleError:
        return False
    return True


@settings(max_examples=examples(33, 100))
@given(destructive_graphs())
def test_the_whole_sequences_that_are_possible_are_the_successful_orders(graph: TaskGraph) -> None:
    names = [item.instance_id for item in graph.nodes]
    possible = [
        order
        for order in permutations(range(len(names)))
        if is_possible(graph, [names[number] for number in order])
    ]
    assert possible == list(orders_of(graph, cap=1000).successful)


@settings(max_examples=examples(33, 100))
@given(destructive_graphs(), st.data())
def test_every_beginning_of_a_successful_order_is_possible(graph: TaskGraph, data: st.DataObject) -> None:
    names = [item.instance_id for item in graph.nodes]
    for order in orders_of(graph, cap=20, samples=5).successful:
        stop = data.draw(st.integers(0, len(order)))
        require_possible(graph, [names[number] for number in order[:stop]])


@settings(max_examples=examples(50, 150))
@given(destructive_graphs(), st.randoms(use_true_random=False))
def test_a_sequence_is_possible_exactly_when_everybody_found_what_it_reads(
    graph: TaskGraph, generator: random.Random
) -> None:
    order = generator.sample(range(len(graph.nodes)), generator.randint(0, len(graph.nodes)))
    names = [graph.nodes[number].instance_id for number in order]
    assert is_possible(graph, names) == succeeds(graph, order)


@given(graphs(6), st.text("ab", min_size=6, max_size=6), st.randoms(use_true_random=False))
def test_counts_adjacent_pairs_of_one_application(
    predecessors: tuple[int, ...], applications: str, generator: random.Random
) -> None:
    graph = shaped(predecessors, applications[: len(predecessors)])
    of = {item.instance_id: item.application for item in graph.nodes}
    sequence = generator.sample(sorted(of), generator.randint(0, len(of)))
    pairs = sum(of[first] == of[second] for first, second in pairwise(sequence))
    assert executed_coherency(graph, sequence) == pairs


def test_names_the_known_subtasks_when_one_is_unknown() -> None:
    with pytest.raises(SequenceImpossibleError, match=r"'q', is not in the graph\. Known: s0, s1"):
        require_possible(shaped((0, 0b1)), ["s0", "q"])
