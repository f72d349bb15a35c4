"""Chain twins and permuted orders."""

from __future__ import annotations

from synthesis.composing.twins import permuted_orders
from taskgraph.cells import LevelConstraint
from taskgraph.interference import orders_of
from tests.synthesis.compositions import composed


def test_chain_twins_have_as_many_subtasks_and_one_order(pool):
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


def test_permuted_orders_are_successful_and_different(pool):
    tasks, _ = composed(pool, count=60)
    for task in tasks:
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
