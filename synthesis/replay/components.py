"""Distinct components: what must have been performed for a task to count as covered, and which replays show
it.

A component is a weakly connected part of a task graph. Two components are the same if they have the same
subtasks, with the same evaluation functions, joined in the same way by the same kinds of resources; their
values and worlds may differ. So a replay in one world covers the same component in all others until a
function changes.

A replay also shows the *closed connected parts* of its components: connected sets of subtasks that include,
with each of them, all those on whose results it works. Such a part needs nothing from outside, so it was
performed as if alone, in as many orders as the whole.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations

from taskloom.taskgraph.bitmasks import ancestors, bits, neighbours, parts
from taskloom.taskgraph.bitmasks import components as connected
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Task

MOST_MEMBERS = 12
"""Maximum subtasks of a component whose parts are sought: their number may double with each."""


def component_keys(graph: TaskGraph, functions: Mapping[str, str]) -> tuple[str, ...]:
    """The sorted keys of the components of `graph`; `functions` has the id of each subtask's function."""
    return tuple(sorted({_key(part, graph, functions) for part in components(graph)}))


def shown_keys(
    graph: TaskGraph, functions: Mapping[str, str], orders: Sequence[Sequence[str]] = ()
) -> frozenset[str]:
    """The keys of everything that replays of `graph` in these `orders` show: its components, and their closed
    connected parts.

    A part in which two subtasks of one application may be swapped must be performed in two orders: it
    counts only if `orders` has each such pair both ways round. Components of more than `MOST_MEMBERS` show
    only themselves.
    """
    return frozenset(
        _key(part, graph, functions)
        for component in components(graph)
        for part in (component, *closed_parts(component, graph, orders))
    )


def closed_parts(
    component: Sequence[BoundSubtask], graph: TaskGraph, orders: Sequence[Sequence[str]] = ()
) -> list[list[BoundSubtask]]:
    """The closed connected parts whose order within each application is fixed, or both ways in `orders`."""
    if len(component) > MOST_MEMBERS:
        return []
    names = {node.instance_id for node in component}
    edges = tuple(edge for edge in graph.edges if edge.producer in names)
    before = TaskGraph(nodes=tuple(component), edges=edges).predecessors
    adjacent = neighbours(before)
    free_pairs = _free_pairs(component, ancestors(before), orders)
    found = []
    for part in range(1, (1 << len(component)) - 1):
        is_open = any(before[index] & ~part for index in bits(part))
        if is_open or any(pair & part == pair for pair in free_pairs):
            continue
        if len(parts(adjacent, part)) == 1:
            found.append([component[index] for index in bits(part)])
    return found


def _free_pairs(
    component: Sequence[BoundSubtask], above: Sequence[int], orders: Sequence[Sequence[str]]
) -> list[int]:
    """Pairs of one application that could be swapped but are not in `orders`, as sets of positions."""
    names = [node.instance_id for node in component]
    return [
        1 << first | 1 << second
        for first, second in combinations(range(len(component)), 2)
        if component[first].application == component[second].application
        and not (above[first] >> second | above[second] >> first) & 1
        and len({order.index(names[first]) < order.index(names[second]) for order in orders}) < 2
    ]


def components(graph: TaskGraph) -> list[list[BoundSubtask]]:
    """The nodes of each weakly connected part, in the order of the graph."""
    return [[graph.nodes[index] for index in bits(part)] for part in connected(graph.predecessors)]


def _key(part: Sequence[BoundSubtask], graph: TaskGraph, functions: Mapping[str, str]) -> str:
    """A hash that refines the nodes' labels with those of neighbours until every node has seen all others."""
    labels = {node.instance_id: f"{node.subtask_id}/{functions.get(node.subtask_id, '')}" for node in part}
    edges = [
        (edge.producer, edge.consumer, edge.resource.category)
        for edge in graph.edges
        if edge.producer in labels and edge.consumer in labels
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
    shows: Callable[[Task], Collection[str]] = lambda task: task.components,
) -> list[Task]:
    """Tasks whose replays cover all components not in `covered`; `shows` gives what a replay covers.

    Of all tasks with a component, the one with the fewest subtasks represents it; of equally short ones, one
    of the world with the most tasks: every world needs its own states, and the first, where recordings come
    from, shows least. What a longer task shows is not performed again. The longest come first, so that
    all cores are busy to the end; if time is `limited`, the next task always covers the most further
    tasks for its `cost`.
    """
    examples: dict[str, Task] = {}
    world_counts = Counter(task.world for task in tasks if task.world)
    for task in sorted(
        tasks, key=lambda item: (len(item.graph.nodes), -world_counts[item.world], item.world, item.task_id)
    ):
        for key in set(task.components).difference(covered):
            examples.setdefault(key, task)
    shown = {task.task_id: examples.keys() & {*shows(task), *task.components} for task in examples.values()}
    if limited:
        return _by_value_for_cost(
            examples, shown, Counter(k for task in tasks for k in task.components), cost
        )
    inner = {key for task in examples.values() for key in shown[task.task_id].difference(task.components)}
    chosen: dict[str, Task] = {}
    uncovered = set(examples)
    for key in sorted(examples, key=lambda name: (name in inner, -len(examples[name].graph.nodes), name)):
        if key in uncovered:
            chosen[examples[key].task_id] = examples[key]
            uncovered -= shown[examples[key].task_id]
    return sorted(chosen.values(), key=lambda item: -cost(item))


def _by_value_for_cost(
    examples: Mapping[str, Task],
    shown: Mapping[str, Collection[str]],
    uses: Mapping[str, int],
    cost: Callable[[Task], float],
) -> list[Task]:
    """The tasks in an order in which each covers the most per cost beyond those before it."""
    waiting = {task.task_id: task for task in examples.values()}
    uncovered = set(examples)
    ordered = []
    while uncovered:
        best = max(
            waiting.values(),
            key=lambda item: sum(uses[key] for key in uncovered & set(shown[item.task_id])) / cost(item),
        )
        ordered.append(waiting.pop(best.task_id))
        uncovered.difference_update(shown[best.task_id])
    return ordered


def another_with(key: str, tasks: Sequence[Task], tried: Task) -> Task | None:
    """Another task with this component, if there is one: the shortest, of another world if possible."""
    others = [item for item in tasks if key in item.components and item.task_id != tried.task_id]
    others.sort(key=lambda item: (item.world == tried.world, len(item.graph.nodes), item.task_id))
    return next(iter(others), None)


def repeats_application(task: Task) -> bool:
    """Whether two subtasks of one component share an application, so their order may matter."""
    return any(len({node.application for node in part}) < len(part) for part in components(task.graph))
