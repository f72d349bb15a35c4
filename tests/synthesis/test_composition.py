"""Composition: closed tasks of wanted levels, without duplicates, the same every time."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from benchmarks.synthetic_pool import synthetic_pool
from resources.catalog_loading import load_capabilities
from synthesis.composing.request import CompositionRequest, Quota
from synthesis.composing.twins import permuted_orders
from synthesis.composition import compose
from taskgraph.capabilities import constraint_of
from taskgraph.cells import LevelConstraint
from taskgraph.complexity import cell_of, complexity_of
from taskgraph.interference import orders_of
from taskgraph.ranges import MeasureRanges
from taskgraph.task import Intent
from tests.taskgraph.small_graphs import clipboard, file, node


@pytest.fixture(scope="module")
def pool():
    return synthetic_pool(seed=3, intents=40)


def composed(pool, **wishes):
    nodes, intents, fixtures = pool
    result = compose(nodes, intents, CompositionRequest(**wishes), fixtures=fixtures)
    return list(result), result.account


def chain_pool(*applications):
    """A chain: each subtask reads the file that the one before wrote."""
    nodes = [
        node(
            f"s{number}",
            application=application,
            category=f"category of {application}",
            inputs=(file(f"f{number}"),) if number else (),
            outputs=(file(f"f{number + 1}"),),
        )
        for number, application in enumerate(applications)
    ]
    intent = Intent(intent_id="i", text="All of it", subtask_ids=tuple(item.subtask_id for item in nodes))
    return nodes, [intent], {}


def test_makes_the_number_of_tasks_asked_for_without_duplicates(pool):
    tasks, account = composed(pool, count=150)
    assert len(tasks) == len({task.task_id for task in tasks}) == account.composed == 150
    assert account.shortfalls == ()
    assert account.intents >= 10


def test_same_pool_request_and_seed_give_the_same_bytes(pool):
    nodes, intents, fixtures = pool
    first, _ = composed(pool, count=60, seed=7)
    second, _ = composed((nodes[::-1], intents, fixtures), count=60, seed=7)
    other, _ = composed(pool, count=60, seed=8)
    assert [task.model_dump_json() for task in first] == [task.model_dump_json() for task in second]
    assert {task.task_id for task in first} != {task.task_id for task in other}


def test_asking_for_more_yields_new_tasks(pool):
    first, _ = composed(pool, count=60)
    second, _ = composed(pool, count=60, known_task_ids=tuple(task.task_id for task in first))
    assert len(second) == 60
    assert not {task.task_id for task in first} & {task.task_id for task in second}


def test_every_input_is_a_fixture_or_has_exactly_one_producer(pool):
    tasks, _ = composed(pool, count=100)
    for task in tasks:
        for item in task.graph.nodes:
            for needed in item.inputs:
                producers = [
                    edge.producer
                    for edge in task.graph.edges
                    if edge.consumer == item.instance_id and edge.resource == needed
                ]
                assert len(producers) == 1 or (not producers and needed in pool[2][item.application])


def test_no_resource_has_two_producers_in_one_task(pool):
    tasks, _ = composed(pool, count=100)
    for task in tasks:
        written = Counter(resource for item in task.graph.nodes for resource in set(item.outputs))
        assert max(written.values()) == 1


def test_records_what_can_be_computed_about_the_graph(pool):
    tasks, _ = composed(pool, count=80, maximum_size=6, maximum_components=2)
    for task in tasks:
        orders = orders_of(task.graph)
        assert task.complexity == complexity_of(task.graph)
        assert 2 <= task.complexity.nodes <= 6
        assert task.complexity.components <= 2
        assert (task.order_count, task.successful_order_count) == (orders.count, orders.successful_count)
        assert task.successful_order_count > 0
        assert len(task.low_level_instructions) == task.complexity.nodes


def test_spreads_tasks_evenly_over_the_cells_that_can_be_reached(pool):
    _, account = composed(pool, count=300)
    full = [count for count in account.per_cell.values() if count >= 5]
    assert len(account.per_cell) >= 40
    assert len(full) >= 0.6 * len(account.per_cell)


def test_fills_a_table_of_quotas_with_exactly_what_it_asks_for(pool):
    deep = Quota(levels=LevelConstraint(hierarchy=("hard",)), count=15)
    wide = Quota(levels=LevelConstraint(branch=("medium",), dependency=("hard",)), count=25)
    tasks, account = composed(pool, quotas=(deep, wide))
    assert (len(tasks), account.wanted, account.shortfalls) == (40, 40, ())
    assert sum(deep.levels.allows(cell_of(task.complexity)) for task in tasks) >= 15
    assert sum(wide.levels.allows(cell_of(task.complexity)) for task in tasks) >= 25


def test_fills_quotas_per_level_of_several_dimensions_at_once(pool):
    wishes = {
        "hierarchy": {"easy": 10, "medium": 20, "hard": 10},
        "knowledge": {"medium": 15, "hard": 25},
    }
    tasks, account = composed(pool, level_quotas=wishes)
    assert account.shortfalls == ()
    assert Counter(task.complexity.hierarchy_level for task in tasks) == wishes["hierarchy"]
    assert Counter(task.complexity.knowledge_level for task in tasks) == wishes["knowledge"]


def test_fills_quotas_per_capability(pool):
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


def test_stays_within_the_levels_that_the_request_allows(pool):
    tasks, _ = composed(pool, count=40, within=LevelConstraint(hierarchy=("easy",), branch=("easy",)))
    assert {task.complexity.hierarchy_level for task in tasks} == {"easy"}
    assert {task.complexity.branch_level for task in tasks} == {"easy"}


def test_stays_within_the_ranges_that_the_request_allows(pool):
    ranges = MeasureRanges(hierarchy=(3, 3), instruction=(5, 6), dependency=(4, 5))
    tasks, account = composed(pool, count=30, ranges=ranges)
    assert len(tasks) == 30
    assert account.shortfalls == ()
    assert {task.complexity.depth for task in tasks} == {3}
    assert {task.complexity.nodes for task in tasks} <= {5, 6}
    assert {task.complexity.edges for task in tasks} <= {4, 5}


def test_tasks_of_many_subtasks_can_be_had(pool):
    tasks, _ = composed(pool, count=3, maximum_size=20, ranges=MeasureRanges(instruction=(16, 20)))
    assert len(tasks) == 3
    assert all(16 <= task.complexity.nodes <= 20 for task in tasks)


def test_says_that_no_graph_has_the_values_wanted(pool):
    _, account = composed(
        pool, count=5, ranges=MeasureRanges(hierarchy=(6, 6), branch=(1, 1), instruction=(4, 5))
    )
    (shortfall,) = account.shortfalls
    assert shortfall.kind == "impossible_for_any_graph"
    assert "instruction 4..5, hierarchy 6, branch 1" in shortfall.reason


def test_says_that_the_smallest_size_is_in_the_way(pool):
    small = Quota(levels=LevelConstraint(instruction=("easy",)), count=2)
    _, account = composed(pool, quotas=(small,), minimum_size=4)
    assert account.shortfalls[0].kind == "outside_limits"
    assert "needs at most 2 subtasks, and at least 4 are wanted" in account.shortfalls[0].reason


def test_names_only_levels_that_were_asked_for_in_a_contradiction(pool):
    wanted = Quota(levels=LevelConstraint(instruction=("easy",), hierarchy=("hard",)), count=5)
    _, account = composed(pool, quotas=(wanted,))
    assert "no graph has instruction easy and hierarchy hard" in account.shortfalls[0].reason


def test_finds_every_closed_set_of_a_small_intent():
    nodes, intents, fixtures = chain_pool("a", "b", "c", "d")
    tasks, account = composed((nodes, intents, fixtures), count=50, minimum_size=1)
    assert {len(task.graph.nodes) for task in tasks} == {1, 2, 3, 4}
    assert len(tasks) == 4
    assert account.shortfalls[0].kind == "used_up"


def test_equals_brute_force_over_all_subsets_of_a_group(pool):
    nodes, _, fixtures = pool
    group = [item for item in nodes if item.subtask_id < "subtask_011"][:12]
    group = list({item.instance_id: item for item in group}.values())
    intent = Intent(intent_id="i", text="", subtask_ids=tuple({item.subtask_id for item in group}))
    expected = set()
    for size in range(1, 5):
        for chosen in combinations(group, size):
            if closed(chosen, fixtures):
                expected.add(frozenset(item.instance_id for item in chosen))
    tasks, _ = composed(
        (group, [intent], fixtures), count=5000, minimum_size=1, maximum_size=4, maximum_components=4
    )
    assert {frozenset(item.instance_id for item in task.graph.nodes) for task in tasks} == expected


def closed(chosen, fixtures):
    written = [resource for item in chosen for resource in set(item.outputs)]
    if len(set(written)) < len(written) or len({item.instance_id for item in chosen}) < len(chosen):
        return False
    placed: set[str] = set()
    while True:
        ready = [
            item
            for item in chosen
            if item.instance_id not in placed
            and all(
                any(needed in other.outputs and other.instance_id in placed for other in chosen)
                or (needed in fixtures[item.application] and needed not in written)
                for needed in item.inputs
            )
        ]
        if not ready:
            return len(placed) == len(chosen)
        placed.update(item.instance_id for item in ready)


def test_a_slot_without_a_document_takes_over_that_of_its_producer():
    book = file("book.csv", "csv_path")
    nodes = [
        node("copy", inputs=(book,), outputs=(clipboard(),)),
        node("paste", inputs=(clipboard(),), outputs=(file("letter.txt"),)),
    ]
    intent = Intent(intent_id="i", text="", subtask_ids=("copy", "paste"))
    tasks, _ = composed((nodes, [intent], {"editor": frozenset({book})}), count=5)
    (edge,) = tasks[0].graph.edges
    assert edge.resource == clipboard("book.csv")


def test_two_documents_are_not_linked_to_each_others_readers():
    books = [file(f"{name}.csv", "csv_path") for name in "ab"]
    nodes = [node(f"copy {book.value}", inputs=(book,), outputs=(clipboard(),)) for book in books]
    nodes += [node(f"paste {n}", inputs=(clipboard(),), outputs=(file(f"{n}.txt"),)) for n in (1, 2)]
    intent = Intent(intent_id="i", text="", subtask_ids=tuple(item.subtask_id for item in nodes))
    tasks, _ = composed((nodes, [intent], {"editor": frozenset(books)}), count=200, maximum_components=4)
    crossed = [
        task
        for task in tasks
        if len({edge.producer for edge in task.graph.edges}) == 2 and len(task.graph.nodes) == 4
    ]
    assert crossed
    for task in crossed:
        assert (task.order_count, task.successful_order_count) == (6, 2)
        assert {item.kind for item in task.interferences} == {"overwritten_slot"}
        for edge in task.graph.edges:
            assert edge.resource.value in edge.producer


def test_a_set_without_a_successful_order_is_left_out_and_the_clash_named():
    nodes = [
        node("copy a", outputs=(clipboard("a"),)),
        node("copy b", inputs=(clipboard("a"),), outputs=(clipboard("b"),)),
        node("compare", inputs=(clipboard("a"), clipboard("b"))),
    ]
    intent = Intent(intent_id="i", text="", subtask_ids=tuple(item.subtask_id for item in nodes))
    tasks, account = composed((nodes, [intent], {}), count=5)
    assert [len(task.graph.nodes) for task in tasks] == [2]
    assert account.without_successful_order == 1
    assert (
        "copy b overwrites text_in_clipboard a of copy a which compare still needs" in account.example_clash
    )


def test_groups_with_cyclic_links_are_enumerated_too():
    nodes = [
        node("stop", inputs=(file("running"),), outputs=(file("stopped"),)),
        node("start", inputs=(file("stopped"),), outputs=(file("running"),)),
        node("look", inputs=(file("running"),)),
    ]
    intent = Intent(intent_id="i", text="", subtask_ids=("stop", "start", "look"))
    fixtures = {"editor": frozenset({file("running"), file("stopped")})}
    tasks, _ = composed((nodes, [intent], fixtures), count=20, minimum_size=1)
    found = {frozenset(item.instance_id for item in task.graph.nodes) for task in tasks}
    assert found == {
        frozenset(names) for names in (("stop",), ("start",), ("look",), ("stop", "look"), ("start", "look"))
    }


def test_one_instance_of_each_subtask_where_the_cell_can_be_had_that_way(pool):
    tasks, _ = composed(pool, count=100)
    repeated = [
        task for task in tasks if len({item.subtask_id for item in task.graph.nodes}) < len(task.graph.nodes)
    ]
    assert len(repeated) <= 10


def test_says_that_no_graph_has_the_levels_wanted(pool):
    wanted = Quota(levels=LevelConstraint(instruction=("easy",), hierarchy=("hard",)), count=5)
    tasks, account = composed(pool, quotas=(wanted,))
    (shortfall,) = account.shortfalls
    assert tasks == []
    assert (shortfall.kind, shortfall.missing) == ("impossible_for_any_graph", 5)
    assert "67 of the 243" in shortfall.reason


def test_says_that_the_limits_exclude_the_levels_wanted(pool):
    wanted = Quota(levels=LevelConstraint(hierarchy=("hard",), branch=("hard",)), count=5)
    _, account = composed(pool, quotas=(wanted,), maximum_size=6)
    (shortfall,) = account.shortfalls
    assert shortfall.kind == "outside_limits"
    assert "at least 9 subtasks" in shortfall.reason


def test_names_the_bottleneck_and_the_nearest_cell_when_the_pool_cannot():
    nodes, intents, fixtures = chain_pool("a", "b", "c")
    deep = Quota(levels=LevelConstraint(hierarchy=("hard",)), count=4)
    _, account = composed((nodes, intents, fixtures), quotas=(deep,))
    (shortfall,) = account.shortfalls
    assert shortfall.kind == "impossible_for_pool"
    assert shortfall.bottleneck == "text_path"
    assert "the longest in the pool has 3" in shortfall.reason
    assert shortfall.nearest == ("medium", "medium", "medium", "medium", "easy")


def test_names_missing_application_categories():
    nodes, intents, fixtures = chain_pool("a", "b", "a", "b", "a")
    broad = Quota(levels=LevelConstraint(knowledge=("hard",)), count=4)
    _, account = composed((nodes, intents, fixtures), quotas=(broad,))
    assert account.shortfalls[0].bottleneck == "application categories"
    assert "needs 4 application categories; the pool has 2" in account.shortfalls[0].reason


def test_an_empty_pool_and_no_intents_end_with_a_reason():
    tasks, account = composed(([], [], {}), count=3)
    assert tasks == []
    assert account.shortfalls[0].missing == 3


def test_intents_that_the_tasks_do_not_serve_enough_of_are_reported():
    nodes, intents, fixtures = chain_pool("a", "b", "c")
    _, account = composed((nodes, intents, fixtures), count=1, minimum_intents=2)
    assert any("intents" in shortfall.wanted for shortfall in account.shortfalls)


def test_the_account_is_refused_before_the_last_task(pool):
    nodes, intents, fixtures = pool
    result = compose(nodes, intents, CompositionRequest(count=5), fixtures=fixtures)
    next(iter(result))
    with pytest.raises(RuntimeError, match="all tasks have been taken"):
        _ = result.account


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


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"minimum_size": 5, "maximum_size": 4}, "minimum_size 5 is above"),
        ({"maximum_size": 31}, "less than or equal to 30"),
        (
            {"quotas": (Quota(count=1),), "level_quotas": {"branch": {"easy": 1}}},
            "not both",
        ),
        ({"level_quotas": {"branch": {"easy": 1}, "hierarchy": {"easy": 2}}}, "different totals"),
    ],
)
def test_refuses_requests_that_contradict_themselves(wishes, message):
    with pytest.raises(ValueError, match=message):
        CompositionRequest(**wishes)
