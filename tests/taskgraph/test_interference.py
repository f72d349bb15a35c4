"""Successful orders against a simulation that writes, reads and consumes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskloom.resources.instances import Resource
from taskloom.taskgraph.measures.coherency import coherency_score, maximum_coherency_of
from taskloom.taskgraph.measures.interference import (
    clash_of,
    orders_of,
    successful_table,
    threats_of,
)
from taskloom.taskgraph.measures.orders import OrderTable
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.subtask import BoundSubtask
from tests.shared_work import examples
from tests.taskgraph.small_graphs import brute_orders, clipboard, file, is_order, linked, node, shaped


def succeeds(graph: TaskGraph, order: Sequence[int]) -> bool:
    """Whether the order works in a world with one clipboard and files that can be deleted."""
    written = {resource for item in graph.nodes for resource in item.outputs}
    files = {r for item in graph.nodes for r in item.inputs if r.slot is None and r not in written}
    slot = None
    for number in order:
        item = graph.nodes[number]
        for needed in item.inputs:
            if needed.slot is None and needed not in files:
                return False
            if needed.slot is not None and slot != needed:
                return False
        for gone in item.consumed:
            if gone.slot is None:
                files.discard(gone)
            else:
                slot = None
        for made in item.outputs:
            if made.slot is None:
                files.add(made)
            else:
                slot = made
    return True


def simulated(graph: TaskGraph) -> list[tuple[int, ...]]:
    return [
        order
        for order in permutations(range(len(graph.nodes)))
        if is_order(graph.predecessors, order) and succeeds(graph, order)
    ]


def copy_paste(pairs: int) -> TaskGraph:
    nodes = []
    for number in range(pairs):
        nodes.append(node(f"copy{number}", outputs=(clipboard(f"text {number}"),)))
        nodes.append(node(f"paste{number}", inputs=(clipboard(f"text {number}"),)))
    return linked(*nodes)


@st.composite
def destructive_graphs(draw: st.DrawFn) -> TaskGraph:
    size = draw(st.integers(2, 6))
    nodes: list[BoundSubtask] = []
    texts: list[Resource] = []
    files: list[Resource] = []
    for number in range(size):
        inputs: list[Resource] = []
        outputs: list[Resource] = []
        consumed: list[Resource] = []
        if bool(texts) and draw(st.booleans()):
            inputs.append(draw(st.sampled_from(texts)))
        if draw(st.integers(0, 2)):
            inputs.append(draw(st.sampled_from([*files, file("fixture")])))
        if draw(st.integers(0, 2)) == 0:
            outputs.append(clipboard(f"text {number}"))
        if draw(st.booleans()):
            outputs.append(file(f"made {number}"))
        if inputs and draw(st.integers(0, 2)) == 0:
            consumed.append(draw(st.sampled_from(inputs)))
        texts += [made for made in outputs if made.slot is not None]
        files += [made for made in outputs if made.slot is None]
        nodes.append(
            node(
                f"s{number}",
                application=draw(st.sampled_from("ab")),
                inputs=tuple(dict.fromkeys(inputs)),
                outputs=tuple(outputs),
                consumed=tuple(consumed),
            )
        )
    return linked(*nodes)


@settings(max_examples=examples(100, 300))
@given(destructive_graphs())
def test_counts_and_lists_exactly_the_orders_that_work(graph: TaskGraph) -> None:
    expected = simulated(graph)
    orders = orders_of(graph, cap=1000)
    assert orders.successful_count == len(expected)
    assert list(orders.successful) == expected
    assert orders.count == OrderTable(graph.predecessors).count()
    table = successful_table(graph.predecessors, threats_of(graph))
    assert (table.count(), table.listed(1000)) == (len(expected), expected)


@settings(max_examples=examples(100, 300))
@given(destructive_graphs())
def test_maximum_coherency_is_taken_over_successful_orders(graph: TaskGraph) -> None:
    scores = [
        coherency_score([graph.nodes[number].application for number in order]) for order in simulated(graph)
    ]
    assert maximum_coherency_of(graph) == max(scores, default=None)


@settings(max_examples=examples(66, 200))
@given(destructive_graphs())
def test_a_clash_is_named_exactly_when_no_order_works_and_none_of_it_can_be_left_out(
    graph: TaskGraph,
) -> None:
    clash = clash_of(graph)
    assert bool(clash) == (not simulated(graph))
    known = {str(threat.record(graph)): threat for threat in threats_of(graph)}
    named = [known[str(item)] for item in clash]
    if named:
        assert not successful_table(graph.predecessors, named).count()
    for left_out in named:
        rest = [threat for threat in named if threat is not left_out]
        assert successful_table(graph.predecessors, rest).count()


@pytest.mark.parametrize(("pairs", "plain", "successful"), [(2, 6, 2), (3, 90, 6), (4, 2520, 24)])
def test_copy_and_paste_pairs_may_not_be_interleaved(pairs: int, plain: int, successful: int) -> None:
    orders = orders_of(copy_paste(pairs))
    assert (orders.count, orders.successful_count) == (plain, successful)


def test_names_the_two_subtasks_that_clash() -> None:
    graph = linked(
        node("copy a", outputs=(clipboard("a"),)),
        node("copy b", inputs=(clipboard("a"),), outputs=(clipboard("b"),)),
        node("paste", inputs=(clipboard("a"), clipboard("b"))),
    )
    (clash,) = clash_of(graph)
    assert (clash.kind, clash.spoiler, clash.producer, clash.consumer) == (
        "overwritten_slot",
        "copy b",
        "copy a",
        "paste",
    )
    assert clash.resource == "text_in_clipboard a"


def test_two_subtasks_that_consume_one_fixture_clash() -> None:
    old = file("old.txt")
    graph = linked(
        node("move", inputs=(old,), consumed=(old,)), node("delete", inputs=(old,), consumed=(old,))
    )
    clash = clash_of(graph)
    assert {(item.kind, item.spoiler, item.consumer, item.producer) for item in clash} == {
        ("consumed_input", "move", "delete", ""),
        ("consumed_input", "delete", "move", ""),
    }


def test_a_fixture_is_read_before_it_is_consumed() -> None:
    old = file("old.txt")
    graph = linked(node("delete", inputs=(old,), consumed=(old,)), node("read", inputs=(old,)))
    orders = orders_of(graph)
    assert (orders.count, orders.successful) == (2, ((1, 0),))


def test_editing_in_place_does_not_take_the_file_from_others() -> None:
    text = file("notes.txt")
    graph = linked(
        node("edit", inputs=(text,), outputs=(text,), consumed=(text,)), node("read", inputs=(text,))
    )
    assert orders_of(graph).threats == ()


def test_samples_beyond_the_cap_and_keeps_the_first_order() -> None:
    orders = orders_of(shaped((0,) * 6), cap=100, samples=20, seed=3)
    assert orders.successful_count == 720
    assert len(set(orders.successful)) == 20
    assert orders.successful[0] == (0, 1, 2, 3, 4, 5)
    assert set(orders.successful) <= set(brute_orders((0,) * 6))
    assert orders == orders_of(shaped((0,) * 6), cap=100, samples=20, seed=3)
