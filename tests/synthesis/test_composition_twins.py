"""Chain twins and permuted orders."""

from __future__ import annotations

from collections.abc import Sequence

from taskloom.synthesis.composition.building import permuted_orders
from taskloom.taskgraph.measures.interference import orders_of
from taskloom.taskgraph.measures.per_dimension import LevelConstraint, MeasureRanges
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Intent, Task
from tests.synthesis.compositions import Pool, chain_pool, composed
from tests.taskgraph.small_graphs import clipboard, file, node


def test_chain_twins_have_as_many_subtasks_and_one_order(pool: Pool) -> None:
    within = LevelConstraint(
        hierarchy=("easy", "medium"), instruction=("medium",), dependency=("medium", "hard")
    )
    tasks, account = composed(pool, count=40, twins=True, within=within)
    by_id = {task.task_id: task for task in tasks}
    twins = [task for task in tasks if task.twin_of]
    assert len(by_id) == len(tasks)
    assert len(twins) == account.twins > 0
    for twin in twins:
        original = by_id[twin.twin_of]
        assert twin.complexity.nodes == original.complexity.nodes == twin.complexity.depth
        assert twin.order_count == 1 < original.order_count or original.complexity.components == 1
        used = {item.application_category for item in original.graph.nodes}
        assert {item.application_category for item in twin.graph.nodes} <= used


def test_permuted_orders_are_successful_and_different(hundred_tasks: list[Task]) -> None:
    for task in hundred_tasks:
        orders = permuted_orders(task)
        assert len(set(orders)) == len(orders) == min(3, task.successful_order_count)
        known = (
            {
                tuple(task.graph.nodes[i].instance_id for i in o)
                for o in orders_of(task.graph, cap=10**6).successful
            }
            if task.successful_order_count < 500
            else None
        )
        assert known is None or set(orders) <= known


def test_the_one_chain_of_a_pool_is_found_among_many_ways_that_end_early() -> None:
    chain = chain_pool(*"aaaaaa")[0]
    ends = [
        node(
            f"end {number} {branch}", application="a", category="category of a", inputs=(file(f"f{number}"),)
        )
        for number in range(1, 6)
        for branch in range(8)
    ]
    nodes = [*chain, *ends]
    intent = Intent(intent_id="i", text="", subtask_ids=tuple(item.subtask_id for item in nodes))
    six = LevelConstraint(instruction=("hard",), hierarchy=("easy", "medium"))
    tasks, account = composed(
        (nodes, [intent], {}),
        count=3,
        seed=1,
        twins=True,
        within=six,
        ranges=MeasureRanges(instruction=(6, 6)),
    )
    twins = [task for task in tasks if task.twin_of]
    assert {frozenset(item.instance_id for item in task.graph.nodes) for task in twins} <= chains_of(nodes, 6)
    assert account.twins == 3


def chains_of(nodes: Sequence[BoundSubtask], size: int) -> set[frozenset[str]]:
    """All chains by following every reader."""
    found = [[item] for item in nodes if not item.inputs]
    for _ in range(size - 1):
        found = [[*way, item] for way in found for item in nodes if set(item.inputs) & set(way[-1].outputs)]
    return {frozenset(item.instance_id for item in way) for way in found}


def test_a_chain_in_which_something_is_lost_is_no_twin() -> None:
    text, other = clipboard("a"), clipboard("b")
    nodes = [
        node("copy", outputs=(text,)),
        node("copy more", inputs=(text,), outputs=(other,)),
        node("compare", inputs=(text, other)),
        node("write", outputs=(file("w"),)),
        node("read", inputs=(file("w"),)),
    ]
    intent = Intent(intent_id="i", text="", subtask_ids=tuple(item.subtask_id for item in nodes))
    tasks, account = composed((nodes, [intent], {}), count=50, twins=True, maximum_components=4)
    lost = {"copy", "copy more", "compare"}
    assert all({item.instance_id for item in task.graph.nodes} != lost for task in tasks)
    assert account.without_successful_order > 0
