"""Near-duplicates are left out, and no bound subtask is in more than its share of the tasks."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.synthesis.composition.pool.compiled_pool import CompiledPool, compile_pool
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.synthesis.composition.taken_sets import TakenSets
from taskloom.taskgraph.bitmasks import mask_of
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Intent
from tests.synthesis.compositions import Pool, chain_pool, composed
from tests.taskgraph.small_graphs import file, node

sets = st.lists(st.integers(1, 2**12 - 1), max_size=25)


def taken(nodes: list[BoundSubtask], **wishes: Any) -> tuple[CompiledPool, TakenSets]:
    pool = compile_pool(nodes, {})
    return pool, TakenSets(pool, CompositionRequest(**wishes))


@given(sets, st.sampled_from([0.5, 0.75, 0.8, 1.0]))
def test_a_near_duplicate_is_found_exactly_where_comparing_with_everything_finds_one(
    masks: list[int], share: float
) -> None:
    _, record = taken([node(f"s{number}") for number in range(12)], near_duplicate_share=share)
    added: list[int] = []
    for mask in masks:
        near = share < 1 and any(
            (mask & other).bit_count() >= share * max(mask.bit_count(), other.bit_count()) for other in added
        )
        assert record.has_near_duplicate(mask) == near
        record.add(mask)
        added.append(mask)


def test_a_bound_subtask_has_its_share_of_many_tasks_and_twenty_of_few() -> None:
    nodes = [node(f"s{number}") for number in range(99)]
    _, few = taken(nodes, subtask_share=0.05, pattern_share=1, count=100)
    _, many = taken(nodes, subtask_share=0.05, pattern_share=1, count=1000, maximum_size=2)
    for other in range(2, 22):
        few.add(0b1 | 1 << other)
        many.add(0b1 | 1 << other)
    assert few.is_over_share(0b11)
    assert not few.is_over_share(0b10)
    assert not many.is_over_share(0b11)


def pairs(number: int) -> list[BoundSubtask]:
    """Writers and readers of files: linked pairs, each in an application of its own."""
    nodes: list[BoundSubtask] = []
    for pair in range(number):
        made = (file(f"{pair}.txt"),)
        nodes += [
            node(f"write {pair}", application=f"application {pair}", outputs=made),
            node(f"read {pair}", application=f"application {pair}", inputs=made),
        ]
    return nodes


def numbered(pool: CompiledPool, *names: str) -> int:
    return mask_of([item.number for item in pool.instances if item.node.instance_id in names])


def test_linked_subtasks_and_those_that_were_used_less_cost_less() -> None:
    pool, record = taken(pairs(3))
    linked = [numbered(pool, f"write {pair}", f"read {pair}") for pair in range(3)]
    assert record.cost(linked[0]) < record.cost(numbered(pool, "write 0", "write 1"))
    for pair in (0, 0, 1):
        record.add(linked[pair])
    assert sorted(linked, key=record.cost) == linked[::-1]


def joined(number: int) -> Pool:
    """Subtasks that write a file each, and one that reads each pair of files."""
    nodes = [node(f"write {n}", outputs=(file(f"{n}.txt"),)) for n in range(number)]
    nodes += [
        node(f"join {a} {b}", inputs=(file(f"{a}.txt"), file(f"{b}.txt")), outputs=(file(f"{a}{b}.txt"),))
        for a, b in combinations(range(number), 2)
    ]
    return nodes, [Intent(intent_id="i", text="", subtask_ids=tuple(item.subtask_id for item in nodes))], {}


@pytest.mark.parametrize("share", [0.5, 0.75])
def test_no_two_tasks_are_near_duplicates_and_the_account_says_how_many_were_left_out(
    share: float,
) -> None:
    tasks, account = composed(joined(5), count=200, near_duplicate_share=share)
    members = [{item.instance_id for item in task.graph.nodes} for task in tasks]
    assert len(members) > 5
    for first, second in combinations(members, 2):
        assert len(first & second) < share * max(len(first), len(second))
    assert account.near_duplicates > 0
    assert "near-duplicates" in account.shortfalls[0].reason


def test_of_the_beginnings_of_a_chain_those_with_too_much_in_common_are_left_out() -> None:
    tasks, account = composed(chain_pool(*"abcd"), count=9, near_duplicate_share=0.75)
    sizes = sorted(len(task.graph.nodes) for task in tasks)
    assert sizes in ([2, 3], [2, 4])
    assert account.near_duplicates == 1
