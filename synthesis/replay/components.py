"""Distinct components: what must have been performed before a task counts as covered, and which replays show it.

A component is a weakly connected part of a task graph. Two components are the same if they have the same subtasks, with the
same evaluation functions, joined by the same kinds of resources in the same way; their values and worlds may differ. So a
replay in one world covers the same component in all others, and counts no longer once a function has changed.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from taskgraph.records.graph import TaskGraph
from taskgraph.records.subtask import BoundSubtask
from taskgraph.records.task import Task


def component_keys(graph: TaskGraph, functions: Mapping[str, str]) -> tuple[str, ...]:
    """The keys of the components of `graph`, sorted; `functions` holds the id of each subtask's evaluation function."""
    return tuple(sorted({_key(part, graph, functions) for part in components(graph)}))


def components(graph: TaskGraph) -> list[list[BoundSubtask]]:
    """The nodes of each weakly connected part, in the order of the graph."""
    group = {node.instance_id: index for index, node in enumerate(graph.nodes)}
    for producer, consumer in graph.pairs:
        old, new = group[producer], group[consumer]
        group = {name: new if number == old else number for name, number in group.items()}
    found: dict[int, list[BoundSubtask]] = {}
    for node in graph.nodes:
        found.setdefault(group[node.instance_id], []).append(node)
    return list(found.values())


def _key(part: Sequence[BoundSubtask], graph: TaskGraph, functions: Mapping[str, str]) -> str:
    """A hash that refines the labels of the nodes by those of their neighbours until every node has seen all others."""
    labels = {node.instance_id: f"{node.subtask_id}/{functions.get(node.subtask_id, '')}" for node in part}
    edges = [
        (edge.producer, edge.consumer, edge.resource.category)
        for edge in graph.edges
        if edge.producer in labels
    ]
    for _ in part:
        seen: dict[str, list[str]] = {name: [] for name in labels}
        for producer, consumer, category in edges:
            seen[producer].append(f"> {category} {labels[consumer]}")
            seen[consumer].append(f"< {category} {labels[producer]}")
        labels = {name: _hash([label, *sorted(seen[name])]) for name, label in labels.items()}
    return _hash(sorted(labels.values()))


def _hash(parts: Sequence[str]) -> str:
    return hashlib.sha256("\x1e".join(parts).encode()).hexdigest()[:20]


def tasks_to_replay(
    tasks: Sequence[Task],
    covered: Collection[str],
    *,
    limited: bool = False,
    cost: Callable[[Task], float] = lambda task: len(task.graph.nodes),
) -> list[Task]:
    """Tasks whose replays cover all components that are not in `covered`.

    Of all tasks with a component the one with the fewest subtasks stands for it, of equally short ones one of the world with most
    tasks: every world needs states of its own, and the first one, where recordings come from, shows least. The longest come first, so that all
    cores are busy to the end; if time is `limited`, those come first that cover most tasks for their `cost`.
    """
    found: dict[str, Task] = {}
    seen = set(covered)
    of_world = Counter(task.world for task in tasks if task.world)
    for task in sorted(
        tasks, key=lambda item: (len(item.graph.nodes), -of_world[item.world], item.world, item.task_id)
    ):
        new = set(task.components) - seen
        if new:
            found[task.task_id] = task
            seen |= new
    if not limited:
        return sorted(found.values(), key=lambda item: -cost(item))
    uses = Counter(key for task in tasks for key in task.components)
    return sorted(
        found.values(),
        key=lambda item: -sum(uses[key] for key in set(item.components) - set(covered)) / cost(item),
    )


def another_with(key: str, tasks: Sequence[Task], tried: Task) -> Task | None:
    """A further task with this component, if there is one: the shortest, of another world if possible."""
    others = [item for item in tasks if key in item.components and item.task_id != tried.task_id]
    return min(
        others,
        key=lambda item: (item.world == tried.world, len(item.graph.nodes), item.task_id),
        default=None,
    )


def repeats_application(task: Task) -> bool:
    """Whether two subtasks of one component of `task` share an application, so that their order may matter."""
    return any(len({node.application for node in part}) < len(part) for part in components(task.graph))
