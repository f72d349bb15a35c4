"""Composition: tasks of wanted levels, without duplicates, the same every time."""

from __future__ import annotations

from collections import Counter

import pytest

from taskloom.resources.reading.catalog import load_capabilities
from taskloom.synthesis.composition.composition import compose
from taskloom.synthesis.composition.request import CompositionRequest, Quota
from taskloom.taskgraph.measures.complexity import cell_of, complexity_of, constraint_of
from taskloom.taskgraph.measures.interference import orders_of
from taskloom.taskgraph.measures.per_dimension import LevelConstraint, MeasureRanges
from taskloom.taskgraph.records.task import Task
from tests.synthesis.compositions import Pool, composed


def test_makes_the_number_of_tasks_asked_for_without_duplicates(pool: Pool) -> None:
    tasks, account = composed(pool, count=150)
    assert len(tasks) == len({task.task_id for task in tasks}) == account.composed == 150
    assert account.shortfalls == ()
    assert account.intents >= 10


def test_same_pool_request_and_seed_give_the_same_bytes(pool: Pool) -> None:
    nodes, intents, fixtures = pool
    first, _ = composed(pool, count=60, seed=7)
    second, _ = composed((nodes[::-1], intents, fixtures), count=60, seed=7)
    other, _ = composed(pool, count=60, seed=8)
    assert [task.model_dump_json() for task in first] == [task.model_dump_json() for task in second]
    assert {task.task_id for task in first} != {task.task_id for task in other}


def test_asking_for_more_yields_new_tasks(pool: Pool, hundred_tasks: list[Task]) -> None:
    known = {task.task_id for task in hundred_tasks}
    more, _ = composed(pool, count=60, known=known)
    assert len(more) == 60
    assert not known & {task.task_id for task in more}


def test_records_what_can_be_computed_about_the_graph(pool: Pool) -> None:
    tasks, _ = composed(pool, count=80, maximum_size=6, maximum_components=2)
    for task in tasks:
        orders = orders_of(task.graph)
        assert task.complexity == complexity_of(task.graph)
        assert 2 <= task.complexity.nodes <= 6
        assert task.complexity.components <= 2
        assert (task.order_count, task.successful_order_count) == (orders.count, orders.successful_count)
        assert task.successful_order_count > 0
        assert len(task.low_level_instructions) == task.complexity.nodes


def test_spreads_tasks_evenly_over_the_cells_that_can_be_reached(pool: Pool) -> None:
    _, account = composed(pool, count=300, maximum_components=3)
    full = [count for count in account.per_cell.values() if count >= 5]
    assert len(account.per_cell) >= 40
    assert len(full) >= 0.6 * len(account.per_cell)


def test_fills_a_table_of_quotas_with_exactly_what_it_asks_for(pool: Pool) -> None:
    deep = Quota(levels=LevelConstraint(hierarchy=("hard",)), count=15)
    wide = Quota(levels=LevelConstraint(branch=("medium",), dependency=("hard",)), count=25)
    tasks, account = composed(pool, quotas=(deep, wide))
    assert (len(tasks), account.wanted, account.shortfalls) == (40, 40, ())
    assert sum(deep.levels.allows(cell_of(task.complexity)) for task in tasks) >= 15
    assert sum(wide.levels.allows(cell_of(task.complexity)) for task in tasks) >= 25


def test_fills_quotas_per_level_of_several_dimensions_at_once(pool: Pool) -> None:
    wishes = {
        "hierarchy": {"easy": 10, "medium": 20, "hard": 10},
        "knowledge": {"medium": 15, "hard": 25},
    }
    tasks, account = composed(pool, level_quotas=wishes)
    assert account.shortfalls == ()
    assert Counter(task.complexity.hierarchy_level for task in tasks) == wishes["hierarchy"]
    assert Counter(task.complexity.knowledge_level for task in tasks) == wishes["knowledge"]


def test_fills_quotas_per_capability(pool: Pool) -> None:
    capabilities = load_capabilities()
    chosen = [item for item in capabilities if item.name in ("long_range_planning", "cross_domain_knowledge")]
    nodes, intents, fixtures = pool
    quotas = tuple(Quota(levels=constraint_of(item), count=8, name=item.name) for item in chosen)
    result = compose(
        nodes, intents, CompositionRequest(quotas=quotas), fixtures=fixtures, capabilities=capabilities
    )
    met = Counter(name for task in result for name in task.capabilities)
    assert met["long_range_planning"] >= 8
    assert met["cross_domain_knowledge"] >= 8
    assert result.account.shortfalls == ()


def test_stays_within_the_levels_that_the_request_allows(pool: Pool) -> None:
    tasks, _ = composed(pool, count=40, within=LevelConstraint(hierarchy=("easy",), branch=("easy",)))
    assert {task.complexity.hierarchy_level for task in tasks} == {"easy"}
    assert {task.complexity.branch_level for task in tasks} == {"easy"}


def test_stays_within_the_ranges_that_the_request_allows(pool: Pool) -> None:
    ranges = MeasureRanges(hierarchy=(3, 3), instruction=(5, 6), dependency=(4, 5))
    tasks, account = composed(pool, count=30, ranges=ranges)
    assert len(tasks) == 30
    assert account.shortfalls == ()
    assert {task.complexity.depth for task in tasks} == {3}
    assert {task.complexity.nodes for task in tasks} <= {5, 6}
    assert {task.complexity.edges for task in tasks} <= {4, 5}


def test_tasks_of_many_subtasks_can_be_had(pool: Pool) -> None:
    tasks, _ = composed(
        pool, count=3, maximum_size=20, maximum_ends=20, ranges=MeasureRanges(instruction=(16, 20))
    )
    assert len(tasks) == 3
    assert all(16 <= task.complexity.nodes <= 20 for task in tasks)


def test_one_instance_of_each_subtask_where_the_cell_can_be_had_that_way(hundred_tasks: list[Task]) -> None:
    repeated = [
        task
        for task in hundred_tasks
        if len({item.subtask_id for item in task.graph.nodes}) < len(task.graph.nodes)
    ]
    assert len(repeated) <= 10


def test_the_account_is_refused_before_the_last_task(pool: Pool) -> None:
    nodes, intents, fixtures = pool
    result = compose(nodes, intents, CompositionRequest(count=5), fixtures=fixtures)
    next(iter(result))
    with pytest.raises(RuntimeError, match="all tasks have been taken"):
        _ = result.account
