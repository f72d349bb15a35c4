"""Distinct components: what is the same, what stands for it, and when it counts no longer."""

from __future__ import annotations

from resources.categories import ResourceKind
from resources.instances import Resource
from synthesis.replay.components import (
    another_with,
    component_keys,
    components,
    repeats_application,
    tasks_to_replay,
)
from taskgraph.measures.complexity import complexity_of
from taskgraph.records.graph import Dependency, TaskGraph
from taskgraph.records.subtask import BoundSubtask, instance_id
from taskgraph.records.task import Task


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
    assert [item.task_id for item in tasks_to_replay([same, wide, short, other], ())] == [
        "wide",
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
