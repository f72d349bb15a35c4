"""Near-duplicates are left out, and no bound subtask is in more than its share of the tasks."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.synthesis.composition.composer import Neighbours, Shares
from taskloom.taskgraph.records.task import Intent
from tests.synthesis.compositions import Pool, chain_pool, composed
from tests.taskgraph.small_graphs import file, node

sets = st.lists(st.integers(1, 2**12 - 1), max_size=25)


@given(sets, st.sampled_from([0.5, 0.75, 0.8, 1.0]))
def test_a_near_duplicate_is_found_exactly_where_comparing_with_everything_finds_one(
    masks: list[int], share: float
) -> None:
    neighbours = Neighbours(share)
    taken: list[int] = []
    for mask in masks:
        near = share < 1 and any(
            (mask & other).bit_count() >= share * max(mask.bit_count(), other.bit_count()) for other in taken
        )
        assert neighbours.has_near(mask) == near
        neighbours.add(mask)
        taken.append(mask)


def test_a_thing_has_its_share_of_many_and_twenty_of_few() -> None:
    few, many = Shares(0.05, 100), Shares(0.05, 1000)
    for _ in range(20):
        few.add("ab")
        many.add("ab")
    assert few.used_up("bc")
    assert not few.used_up("c")
    assert not many.used_up("bc")


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
