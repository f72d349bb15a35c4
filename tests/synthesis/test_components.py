"""Distinct components: what is the same, what stands for it, and when it counts no longer."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
from hypothesis import given, settings
from hypothesis.strategies import booleans, integers, lists, sampled_from, tuples

from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.synthesis.replay.components import (
    MOST_MEMBERS,
    another_with,
    closed_parts,
    component_keys,
    components,
    repeats_application,
    shown_keys,
    tasks_to_replay,
)
from taskloom.taskgraph.measures.complexity import complexity_of
from taskloom.taskgraph.records.graph import Dependency, TaskGraph
from taskloom.taskgraph.records.subtask import BoundSubtask, instance_id
from taskloom.taskgraph.records.task import Task


def _node(name: str, value: str, world: str = "") -> BoundSubtask:
    parameters = {"value": value}
    return BoundSubtask(
        instance_id=instance_id(name, parameters, world),
        subtask_id=name,
        application=name.partition(".")[0],
        application_category="Office",
        world=world,
        instruction=f"Do {name} with {value}.",
        parameters=parameters,
    )


def _graph(nodes: list[BoundSubtask], *pairs: tuple[int, int], category: str = "csv_path") -> TaskGraph:
    resource = Resource(category=category, kind=ResourceKind.FILE, value="x")
    return TaskGraph(
        nodes=tuple(nodes),
        edges=tuple(
            Dependency(producer=nodes[a].instance_id, consumer=nodes[b].instance_id, resource=resource)
            for a, b in pairs
        ),
    )


def _task(name: str, graph: TaskGraph, world: str = "") -> Task:
    return Task(
        task_id=name,
        graph=graph,
        world=world,
        components=component_keys(graph, {}),
        complexity=complexity_of(graph),
    )


def _shows(task: Task) -> frozenset[str]:
    return shown_keys(task.graph, {})


def _chain(value: str, world: str = "") -> TaskGraph:
    return _graph(
        [_node("a.make", value, world), _node("b.move", value, world), _node("a.open", value, world)],
        (0, 1),
        (1, 2),
    )


def test_values_and_worlds_make_no_other_component() -> None:
    assert component_keys(_chain("x"), {}) == component_keys(_chain("y", "bakery-1"), {})


def test_links_kinds_of_resources_and_functions_do() -> None:
    nodes = [_node("a.make", "x"), _node("b.move", "x"), _node("a.open", "x")]
    keys = {
        component_keys(_chain("x"), {}),
        component_keys(_graph(nodes, (0, 1), (0, 2)), {}),
        component_keys(_graph(nodes, (0, 1), (1, 2), category="json_path"), {}),
        component_keys(_chain("x"), {"a.make": "other"}),
    }
    assert len(keys) == 4


def test_the_order_in_which_nodes_are_listed_does_not_matter() -> None:
    nodes = [_node("a.make", "x"), _node("a.make", "y"), _node("b.join", "z")]
    assert component_keys(_graph(nodes, (0, 2), (1, 2)), {}) == component_keys(
        _graph([nodes[1], nodes[0], nodes[2]], (0, 2), (1, 2)), {}
    )


def test_unconnected_parts_are_components_of_their_own() -> None:
    both = _graph([*_chain("x").nodes, _node("c.alone", "x")], (0, 1), (1, 2))
    assert [len(part) for part in components(both)] == [3, 1]
    assert set(component_keys(_chain("y"), {})) < set(component_keys(both, {}))


def test_one_short_task_stands_for_each_component_that_is_not_covered() -> None:
    wide = _task("wide", _graph([*_chain("x").nodes, _node("c.alone", "x")], (0, 1), (1, 2)))
    short, same = _task("short", _chain("x")), _task("same", _chain("y", "bakery-1"), "bakery-1")
    other = _task("other", _graph([_node("c.alone", "x"), _node("d.read", "x")], (0, 1)))
    assert [item.task_id for item in tasks_to_replay([same, wide, short, other], ())] == ["wide", "other"]
    assert [item.task_id for item in tasks_to_replay([same, wide, short, other], (), shows=_shows)] == [
        "same",
        "other",
    ]
    assert tasks_to_replay([same, short], short.components) == []
    assert another_with(short.components[0], [short, same, wide], short) == same


def test_an_application_is_repeated_only_within_a_component() -> None:
    assert repeats_application(_task("t", _chain("x")))
    assert not repeats_application(_task("t", _graph([_node("a.make", "x"), _node("b.move", "x")], (0, 1))))
    assert not repeats_application(_task("t", _graph([_node("a.make", "x"), _node("a.open", "x")])))


def test_with_limited_time_the_component_of_most_tasks_comes_first() -> None:
    long = _task("long", _chain("x"))
    other = _task("other", _graph([_node("c.alone", "x"), _node("d.read", "x")], (0, 1)))
    again = _task("again", _graph([_node("c.alone", "y"), _node("d.read", "y")], (0, 1)))
    tasks = [long, other, again]
    assert [item.task_id for item in tasks_to_replay(tasks, ())] == ["long", "again"]
    assert [item.task_id for item in tasks_to_replay(tasks, (), limited=True)] == ["again", "long"]
    first_is_cheap = {"long": 1.0, "again": 9.0}
    assert [
        item.task_id
        for item in tasks_to_replay(tasks, (), limited=True, cost=lambda task: first_is_cheap[task.task_id])
    ] == ["long", "again"]


def test_components_are_replayed_in_few_worlds_and_rather_not_in_the_first() -> None:
    one, two = _chain("x"), _graph([_node("c.alone", "x"), _node("d.read", "x")], (0, 1))
    tasks = [
        _task("first", one),
        _task("bakery", one, "bakery-1"),
        _task("club", one, "club-1"),
        _task("two", two, "club-1"),
    ]
    assert {item.task_id for item in tasks_to_replay(tasks, ())} == {"club", "two"}


def _fan(inputs: int) -> TaskGraph:
    """One sink that works on what several chains of two made, each in applications of its own."""
    nodes = [_node(f"{kind}{number}.do", "x") for number in range(inputs) for kind in ("make", "change")]
    joins = [(2 * number + 1, 2 * inputs) for number in range(inputs)]
    return _graph(
        [*nodes, _node("z.join", "x")], *joins, *((2 * number, 2 * number + 1) for number in range(inputs))
    )


def test_a_replay_shows_the_parts_that_need_nothing_else() -> None:
    wide = _fan(3)
    alone = _graph(list(wide.nodes[:1]))
    half = _graph(list(wide.nodes[:2]), (0, 1))
    without_its_start = _graph([wide.nodes[1], wide.nodes[6]], (0, 1))
    unconnected = _graph([wide.nodes[0], wide.nodes[2]])
    shown = shown_keys(wide, {})
    assert shown.issuperset(
        {*component_keys(wide, {}), *component_keys(alone, {}), *component_keys(half, {})}
    )
    assert len(shown) == 1 + 3 + 3
    assert shown.isdisjoint(component_keys(without_its_start, {}))
    assert len(components(unconnected)) == 2 and shown.issuperset(component_keys(unconnected, {}))


def test_a_part_in_which_an_application_may_come_first_or_last_is_performed_by_itself() -> None:
    nodes = [_node("a.make", "x"), _node("b.read", "x"), _node("b.show", "x"), _node("c.read", "x")]
    free = _graph(nodes, (0, 1), (0, 2), (0, 3))
    parts = {tuple(node.subtask_id for node in part) for part in closed_parts(nodes, free)}
    assert ("a.make", "b.read") in parts and ("a.make", "b.read", "c.read") in parts
    assert ("a.make", "b.read", "b.show") not in parts
    names = [node.instance_id for node in nodes]
    both_ways = closed_parts(nodes, free, (names, names[:1] + names[:0:-1]))
    assert {tuple(node.subtask_id for node in part) for part in both_ways} == parts | {
        ("a.make", "b.read", "b.show")
    }
    same_way = (names, [names[0], names[3], *names[1:3]])
    assert {tuple(node.subtask_id for node in part) for part in closed_parts(nodes, free, same_way)} == parts
    given = _graph(nodes, (0, 1), (0, 2), (0, 3), (1, 2))
    assert ["a.make", "b.read", "b.show"] in [
        [node.subtask_id for node in part] for part in closed_parts(nodes, given)
    ]


def test_components_with_many_members_show_only_themselves() -> None:
    names = [_node(f"a{number}.do", "x") for number in range(MOST_MEMBERS + 1)]
    fits, large = (
        _graph(names[:size], *((0, other) for other in range(1, size)))
        for size in (MOST_MEMBERS, MOST_MEMBERS + 1)
    )
    assert len(shown_keys(fits, {})) == 2 ** (MOST_MEMBERS - 1)
    assert shown_keys(large, {}) == set(component_keys(large, {}))


@given(
    applications=lists(sampled_from("abcdef"), min_size=1, max_size=6),
    links=lists(tuples(integers(0, 5), integers(0, 5)), max_size=9),
    both_ways=booleans(),
)
@settings(deadline=None)
def test_parts_are_those_that_brute_force_finds(
    applications: list[str], links: list[tuple[int, int]], both_ways: bool
) -> None:
    nodes = [_node(f"{name}.do{number}", "x") for number, name in enumerate(applications)]
    pairs = {(a, b) for a, b in links if a < b < len(nodes)}
    graph = _graph(nodes, *pairs)
    drawn = nx.DiGraph([(nodes[a].instance_id, nodes[b].instance_id) for a, b in pairs])
    drawn.add_nodes_from(node.instance_id for node in nodes)
    application = {node.instance_id: node.application for node in nodes}
    for component in components(graph):
        names = [node.instance_id for node in component]
        expected = set()
        for size in range(1, len(names)):
            for part in combinations(names, size):
                inner = drawn.subgraph(part)
                closed = all(nx.ancestors(drawn, name) <= set(part) for name in part)
                given_order = both_ways or all(
                    nx.has_path(inner, one, other) or nx.has_path(inner, other, one)
                    for one, other in combinations(part, 2)
                    if application[one] == application[other]
                )
                if closed and given_order and nx.is_weakly_connected(inner):
                    expected.add(part)
        orders = (names, names[::-1]) if both_ways else ()
        parts = [tuple(node.instance_id for node in part) for part in closed_parts(component, graph, orders)]
        assert len(parts) == len(set(parts)) and set(parts) == expected


def test_what_a_longer_task_shows_is_not_performed_again() -> None:
    wide = _task("wide", _fan(3))
    chains = [
        _task(f"chain {number}", _graph(list(_fan(3).nodes[2 * number : 2 * number + 2]), (0, 1)))
        for number in range(3)
    ]
    other = _task("other", _graph([_node("o.one", "x"), _node("p.two", "x")], (0, 1)))
    tasks = [*chains, wide, other]
    assert [item.task_id for item in tasks_to_replay(tasks, (), shows=_shows)] == ["wide", "other"]
    assert {item.task_id for item in tasks_to_replay(tasks, wide.components, shows=_shows)} == {
        "chain 0",
        "chain 1",
        "chain 2",
        "other",
    }, "what covered the long one before the parts counted shows nothing of them"
    assert next(item.task_id for item in tasks_to_replay(tasks, (), shows=_shows, limited=True)) == "wide"
