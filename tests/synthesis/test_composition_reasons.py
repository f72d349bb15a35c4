"""What is said of requests that cannot be met."""

from __future__ import annotations

from typing import Any

import pytest

from taskloom.synthesis.composition.building import TaskBuilder
from taskloom.synthesis.composition.composition import Composer
from taskloom.synthesis.composition.pool.compiled_pool import compile_pool
from taskloom.synthesis.composition.request import CompositionRequest, Quota
from taskloom.taskgraph.errors import GraphTooLargeError
from taskloom.taskgraph.measures.interference import Orders
from taskloom.taskgraph.measures.per_dimension import LevelConstraint, MeasureRanges
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.provenance import Provenance
from tests.synthesis.compositions import Pool, chain_pool, composed


def test_says_that_no_graph_has_the_values_wanted(pool: Pool) -> None:
    _, account = composed(
        pool, count=5, ranges=MeasureRanges(hierarchy=(6, 6), branch=(1, 1), instruction=(4, 5))
    )
    (shortfall,) = account.shortfalls
    assert shortfall.kind == "impossible_for_any_graph"
    assert "instruction 4..5, hierarchy 6, branch 1" in shortfall.reason


def test_says_that_the_smallest_size_is_in_the_way(pool: Pool) -> None:
    small = Quota(levels=LevelConstraint(instruction=("easy",)), count=2)
    _, account = composed(pool, quotas=(small,), minimum_size=4)
    assert account.shortfalls[0].kind == "outside_limits"
    assert "needs minimum_size 2, but it is 4" in account.shortfalls[0].reason


def test_names_only_levels_that_were_asked_for_in_a_contradiction(pool: Pool) -> None:
    wanted = Quota(levels=LevelConstraint(instruction=("easy",), hierarchy=("hard",)), count=5)
    _, account = composed(pool, quotas=(wanted,))
    assert "no graph has instruction easy and hierarchy hard" in account.shortfalls[0].reason


def test_says_that_no_graph_has_the_levels_wanted(pool: Pool) -> None:
    wanted = Quota(levels=LevelConstraint(instruction=("easy",), hierarchy=("hard",)), count=5)
    tasks, account = composed(pool, quotas=(wanted,))
    (shortfall,) = account.shortfalls
    assert tasks == []
    assert (shortfall.kind, shortfall.missing) == ("impossible_for_any_graph", 5)
    assert "67 of the 243" in shortfall.reason


def test_says_that_the_limits_exclude_the_levels_wanted(pool: Pool) -> None:
    wanted = Quota(levels=LevelConstraint(hierarchy=("hard",), branch=("hard",)), count=5)
    _, account = composed(pool, quotas=(wanted,), maximum_size=6)
    (shortfall,) = account.shortfalls
    assert shortfall.kind == "outside_limits"
    assert "needs maximum_size 9, but it is 6" in shortfall.reason


def test_names_the_bottleneck_and_the_nearest_cell_when_the_pool_cannot() -> None:
    nodes, intents, fixtures = chain_pool("a", "b", "c")
    deep = Quota(levels=LevelConstraint(hierarchy=("hard",)), count=4)
    _, account = composed((nodes, intents, fixtures), quotas=(deep,))
    (shortfall,) = account.shortfalls
    assert shortfall.kind == "impossible_for_pool"
    assert shortfall.bottleneck == "text_path"
    assert "the longest found in the pool has 3" in shortfall.reason
    assert shortfall.nearest == ("medium", "medium", "medium", "medium", "easy")


def test_names_missing_application_categories() -> None:
    nodes, intents, fixtures = chain_pool("a", "b", "a", "b", "a")
    broad = Quota(levels=LevelConstraint(knowledge=("hard",)), count=4)
    _, account = composed((nodes, intents, fixtures), quotas=(broad,))
    assert account.shortfalls[0].bottleneck == "application categories"
    assert "needs 4 application categories; the pool has 2" in account.shortfalls[0].reason


def test_an_empty_pool_and_no_intents_end_with_a_reason() -> None:
    tasks, account = composed(([], [], {}), count=3)
    assert tasks == []
    assert account.shortfalls[0].missing == 3


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"minimum_size": 5, "maximum_size": 4}, "minimum_size 5 is above"),
        ({"maximum_size": 31}, "less than or equal to 30"),
        (
            {"quotas": (Quota(count=1),), "level_quotas": {"branch": {"easy": 1}}},
            "not both",
        ),
        ({"level_quotas": {"branch": {"easy": -1, "hard": 2}}}, "fewer than 0 tasks: branch easy -1"),
        ({"level_quotas": {"branch": {}}}, "no task at all"),
        ({"level_quotas": {"branch": {"easy": 1}, "hierarchy": {"easy": 2}}}, "different totals"),
    ],
)
def test_refuses_requests_that_contradict_themselves(wishes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CompositionRequest(**wishes)


def test_says_that_levels_of_several_dimensions_cannot_go_together(pool: Pool) -> None:
    wishes = {"hierarchy": {"hard": 2, "easy": 2}, "instruction": {"easy": 3, "hard": 1}}
    _, account = composed(pool, level_quotas=wishes)
    assert {shortfall.kind for shortfall in account.shortfalls} == {"impossible_for_any_graph"}
    assert {shortfall.missing for shortfall in account.shortfalls} == {1}
    for shortfall in account.shortfalls:
        assert "no graph has instruction easy and hierarchy hard" in shortfall.reason
        assert shortfall.nearest is not None


def test_names_a_quota_with_its_levels() -> None:
    nodes, intents, fixtures = chain_pool("a", "b", "c")
    named = Quota(levels=LevelConstraint(hierarchy=("medium",)), count=3, name="depth")
    _, account = composed((nodes, intents, fixtures), quotas=(named,))
    (shortfall,) = account.shortfalls
    assert (shortfall.kind, shortfall.bottleneck) == ("used_up", "text_path")
    assert "no more tasks of depth (hierarchy medium) that are new" in shortfall.reason


def test_says_that_the_pool_has_too_few_subtasks() -> None:
    nodes, intents, fixtures = chain_pool("a", "b", "c")
    long = Quota(levels=LevelConstraint(instruction=("hard",), hierarchy=("easy", "medium")), count=1)
    _, account = composed((nodes, intents, fixtures), quotas=(long,))
    assert "needs 5 subtasks with their parameters; the pool has 3" in account.shortfalls[0].reason
    _, account = composed(([], [], {}), quotas=(long,))
    assert "The pool has no subtasks" in account.shortfalls[0].reason


class FewOrders(TaskBuilder):
    """Cannot count the orders of large sets."""

    def orders(self, graph: TaskGraph) -> Orders:
        if len(graph.nodes) > 21:
            raise GraphTooLargeError("too many")
        return super().orders(graph)


def test_sets_whose_orders_cannot_be_counted_are_left_out_and_counted() -> None:
    nodes, intents, _ = chain_pool(*"a" * 23)
    pool = compile_pool(nodes, {})
    builder = FewOrders(pool, (), None, seed=0, provenance=Provenance(stage="composition"))
    request = CompositionRequest(
        count=50, maximum_size=23, near_duplicate_share=1, ranges=MeasureRanges(instruction=(20, 23))
    )
    composer = Composer(intents, request, builder)
    assert [task.complexity.nodes for task in composer] == [20, 21]
    assert composer.account.uncountable == 2
