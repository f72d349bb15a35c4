"""Interchangeable subtasks: seen as one by searches, without any answer changing."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from math import factorial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskloom.taskgraph.measures.coherency import maximum_coherency, maximum_coherency_of
from taskloom.taskgraph.measures.interference import successful_table, threats_of
from taskloom.taskgraph.measures.orders import OrderTable, Symmetry
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.subtask import BoundSubtask
from tests.shared_work import examples
from tests.taskgraph.small_graphs import clipboard, file, linked, node

Spoilers = Sequence[Sequence[tuple[int, int]]]
"""Producers and consumers that a subtask must not come between."""


def allowed(before: Sequence[int], spoilers: Spoilers, number: int, done: int) -> bool:
    return not before[number] & ~done and all(
        not done >> producer & 1 or done >> consumer & 1 for producer, consumer in spoilers[number]
    )


def plain_count(before: Sequence[int], spoilers: Spoilers) -> int:
    """Orders by dynamic programming over all sets done: nothing clever."""
    full = (1 << len(before)) - 1

    @cache
    def ways(done: int) -> int:
        if done == full:
            return 1
        free = [number for number in range(len(before)) if not done >> number & 1]
        return sum(ways(done | 1 << number) for number in free if allowed(before, spoilers, number, done))

    return ways(0)


def plain_coherency(before: Sequence[int], spoilers: Spoilers, applications: Sequence[str]) -> int | None:
    """The largest coherency score over sets done and the last application: nothing clever."""
    full = (1 << len(before)) - 1

    @cache
    def best(done: int, last: str | None) -> int | None:
        if done == full:
            return 0
        found = []
        for number, application in enumerate(applications):
            if not done >> number & 1 and allowed(before, spoilers, number, done):
                rest = best(done | 1 << number, application)
                if rest is not None:
                    found.append(rest + (application == last))
        return max(found, default=None)

    return best(0, None)


@st.composite
def repetitive_graphs(draw: st.DrawFn) -> TaskGraph:
    """Tasks of up to 12 subtasks with many that are alike: pairs, fans and lone writers of one clipboard."""
    nodes: list[BoundSubtask] = []
    while len(nodes) < 9:
        name = f"s{len(nodes)}"
        application = draw(st.sampled_from("ab"))
        kind = draw(st.sampled_from(["pair", "fan", "writer", "file", "alone"]))
        made = file(name) if kind == "file" else clipboard(name)
        if kind == "alone":
            nodes.append(node(name, application=application))
            continue
        nodes.append(node(name, application=application, outputs=(made,)))
        for reader in range({"pair": 1, "fan": 3, "file": 1}.get(kind, 0)):
            reading = draw(st.sampled_from("ab"))
            consumed = (made,) if draw(st.integers(0, 5)) == 0 else ()
            nodes.append(node(f"{name}.{reader}", application=reading, inputs=(made,), consumed=consumed))
    order = draw(st.permutations(nodes))
    return linked(*order)


@settings(max_examples=examples(20, 60), deadline=None)
@given(repetitive_graphs())
def test_orders_and_coherency_are_those_of_plain_dynamic_programming(graph: TaskGraph) -> None:
    before, spoilers = successful_table(graph.predecessors, threats_of(graph)).constraints
    applications = [item.application for item in graph.nodes]
    assert OrderTable(before, spoilers).count() == plain_count(before, tuple(map(tuple, spoilers)))
    assert maximum_coherency(before, applications, spoilers) == plain_coherency(
        before, spoilers, applications
    )


@settings(max_examples=examples(20, 60), deadline=None)
@given(repetitive_graphs(), st.integers(0, (1 << 12) - 1))
def test_a_canonical_set_leaves_as_many_orders_for_the_rest(graph: TaskGraph, chosen: int) -> None:
    before, spoilers = successful_table(graph.predecessors, threats_of(graph)).constraints
    left = chosen & (1 << len(before)) - 1
    symmetry = Symmetry(before, spoilers)
    assert symmetry.canonical(symmetry.canonical(left)) == symmetry.canonical(left)
    assert count_of(before, spoilers, left) == count_of(before, spoilers, symmetry.canonical(left))


def count_of(before: Sequence[int], spoilers: Spoilers, left: int) -> int:
    """Orders of the nodes `left` alone, when all others are done."""
    members = [number for number in range(len(before)) if left >> number & 1]
    place = {number: position for position, number in enumerate(members)}
    masks = [sum(1 << place[other] for other in members if before[number] >> other & 1) for number in members]
    pairs = tuple(
        tuple(
            (place.get(producer, -1), place[consumer])
            for producer, consumer in spoilers[number]
            if consumer in place
        )
        for number in members
    )
    full = (1 << len(members)) - 1

    @cache
    def ways(done: int) -> int:
        if done == full:
            return 1
        return sum(
            ways(done | 1 << number)
            for number in range(len(members))
            if not done >> number & 1
            and not masks[number] & ~done
            and all(
                (producer >= 0 and not done >> producer & 1) or done >> consumer & 1
                for producer, consumer in pairs[number]
            )
        )

    return ways(0)


def test_subtasks_of_different_labels_are_not_interchangeable() -> None:
    assert not Symmetry((0, 0), ((), ()), "ab")
    assert Symmetry((0, 0), ((), ()), "aa").canonical(0b10) == 0b01


@pytest.mark.parametrize("readers", [1, 2, 4])
def test_thirty_subtasks_around_one_clipboard_need_few_states(readers: int) -> None:
    nodes = []
    for number in range(30 // (readers + 1)):
        nodes.append(node(f"copy {number}", application="ab"[number % 2], outputs=(clipboard(str(number)),)))
        for reader in range(readers):
            name = f"paste {number} {reader}"
            nodes.append(node(name, application="abc"[reader % 3], inputs=(clipboard(str(number)),)))
    graph = linked(*nodes)
    before, spoilers = successful_table(graph.predecessors, threats_of(graph)).constraints
    table = OrderTable(before, spoilers, maximum_states=3_000)
    groups = 30 // (readers + 1)
    assert table.count() == factorial(groups) * factorial(readers) ** groups
    assert len(set(table.sampled(5, random.Random(0)))) == 5
    assert maximum_coherency_of(graph) is not None
