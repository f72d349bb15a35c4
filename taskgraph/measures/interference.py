"""Which orders of a task are successful, and what spoils the others (method section 1). No other writer of a
slot may come between the ends of a dependency on it (a spoiler of `OrderTable`); a subtask that consumes an
input comes after its other readers (another precedence). Together they give `successful_topo` (App. C.4)
exactly."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from taskloom.resources.instances import Resource
from taskloom.taskgraph.bitmasks import ancestors
from taskloom.taskgraph.measures.orders import ORDERS_LISTED, ORDERS_SAMPLED, OrderTable
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.task import Interference

_CACHED_SHAPES = 4096
_ThreatNodes = tuple[int, int, int, bool]


@dataclass(frozen=True, slots=True)
class Threat:
    """One way in which a subtask can spoil a dependency between two others."""

    spoiler: int
    """Node that overwrites or consumes."""
    producer: int
    """Node whose output is lost; -1 for a fixture."""
    consumer: int
    """Node that still needs it."""
    overwrites: bool
    """Whether a slot is overwritten; otherwise an input is consumed."""
    resource: Resource

    @property
    def nodes(self) -> _ThreatNodes:
        """The threat without the resource, on which orders do not depend."""
        return self.spoiler, self.producer, self.consumer, self.overwrites

    def record(self, graph: TaskGraph) -> Interference:
        """The threat with instance ids, for people."""
        return Interference(
            kind="overwritten_slot" if self.overwrites else "consumed_input",
            spoiler=graph.nodes[self.spoiler].instance_id,
            producer=graph.nodes[self.producer].instance_id if self.producer >= 0 else "",
            consumer=graph.nodes[self.consumer].instance_id,
            resource=f"{self.resource.category} {self.resource.value}".strip(),
        )


def threats_of(graph: TaskGraph) -> list[Threat]:
    """Everything that can make an order of `graph` fail, without what its dependencies rule out.

    >>> from taskloom.resources.categories import ResourceCategory, ResourceKind
    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> text = {"text": ResourceCategory(name="text", kind=ResourceKind.CLIPBOARD, description="")}
    >>> flows = {"copy a": ("outputs", "text:a"), "copy b": ("outputs", "text:b"), "paste a": ("inputs", "text:a")}
    >>> resources = {name: {side: [resource]} for name, (side, resource) in flows.items()}
    >>> graph = read_task_graph({"nodes": list(flows), "resources": resources}, text, str)
    >>> [(threat.spoiler, threat.producer, threat.consumer) for threat in threats_of(graph)]
    [(1, 0, 2)]
    """  # noqa: E501
    index = {node.instance_id: position for position, node in enumerate(graph.nodes)}
    closure = ancestors(graph.predecessors)
    threats: dict[_ThreatNodes, Threat] = {}
    writers: dict[tuple[str, str] | None, list[int]] = {}
    for position, node in enumerate(graph.nodes):
        for slot in {resource.slot for resource in (*node.outputs, *node.consumed)}:
            writers.setdefault(slot, []).append(position)
    producers = {(edge.resource, index[edge.consumer]): index[edge.producer] for edge in graph.edges}
    for edge in graph.edges:
        producer, consumer = index[edge.producer], index[edge.consumer]
        for spoiler in writers.get(edge.resource.slot, ()) if edge.resource.slot else ():
            harmless = closure[producer] >> spoiler & 1 or closure[spoiler] >> consumer & 1
            if spoiler not in (producer, consumer) and not harmless:
                threat = Threat(spoiler, producer, consumer, True, edge.resource)
                threats.setdefault(threat.nodes, threat)
    for spoiler, node in enumerate(graph.nodes):
        for resource in node.consumed:
            if resource.slot is not None or resource in node.outputs:
                continue
            for consumer, reader in enumerate(graph.nodes):
                if consumer != spoiler and resource in reader.inputs and not closure[spoiler] >> consumer & 1:
                    producer = producers.get((resource, consumer), -1)
                    threat = Threat(spoiler, producer, consumer, False, resource)
                    threats.setdefault(threat.nodes, threat)
    return list(threats.values())


def successful_table(predecessors: Sequence[int], threats: Iterable[Threat]) -> OrderTable:
    """The table of successful orders of a graph under `threats`.

    >>> successful_table((0, 0), []).count()
    2
    """
    return _table(predecessors, [threat.nodes for threat in threats])


def _table(predecessors: Sequence[int], threats: Iterable[_ThreatNodes]) -> OrderTable:
    before = list(predecessors)
    spoilers: list[list[tuple[int, int]]] = [[] for _ in before]
    for spoiler, producer, consumer, overwrites in threats:
        if overwrites:
            spoilers[spoiler].append((producer, consumer))
        else:
            before[spoiler] |= 1 << consumer
    return OrderTable(before, spoilers)


@dataclass(frozen=True, slots=True)
class Orders:
    """The orders of a task."""

    count: int
    successful_count: int
    """Number of orders in which nothing is lost before it is read."""
    successful: tuple[tuple[int, ...], ...]
    """These orders: all in lexicographic order up to the cap, otherwise the first and a uniform sample."""
    threats: tuple[Threat, ...]
    """What makes the other orders fail."""


def orders_of(
    graph: TaskGraph, *, cap: int = ORDERS_LISTED, samples: int = ORDERS_SAMPLED, seed: int = 0
) -> Orders:
    """Count the orders of `graph` and list all successful ones if there are at most `cap`, otherwise
    `samples` of them.

    The first order is always the lexicographically first successful one, which makes it a stable reference.

    >>> orders_of(TaskGraph(nodes=())).successful
    ((),)

    Raises:
        GraphTooLargeError: more than 30 subtasks, or too many down-sets to count.
    """
    threats = tuple(threats_of(graph))
    nodes = tuple(threat.nodes for threat in threats)
    return Orders(*_count_and_list(graph.predecessors, nodes, cap, samples, seed), threats)


@lru_cache(maxsize=_CACHED_SHAPES)
def _count_and_list(
    predecessors: tuple[int, ...], threats: tuple[_ThreatNodes, ...], cap: int, samples: int, seed: int
) -> tuple[int, int, tuple[tuple[int, ...], ...]]:
    """Number of orders, of successful orders, and the listed ones; cached, because most shapes recur."""
    plain = OrderTable(predecessors)
    table = _table(predecessors, threats) if threats else plain
    count = table.count()
    listed = table.listed(cap if count <= cap else 1)
    number = min(cap, samples)
    if count > cap and number > 1:
        sample = table.sampled(number, random.Random(seed))
        listed = [*listed, *(order for order in sample if order != listed[0])][:number]
    return plain.count(), count, tuple(listed)


def clash_of(graph: TaskGraph) -> tuple[Interference, ...]:
    """A minimal explanation of why `graph` has no successful order; empty if it has one.

    Every interference returned is necessary: without it, the others allow a successful order.

    >>> from taskloom.resources.categories import ResourceCategory, ResourceKind
    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> text = {"text": ResourceCategory(name="text", kind=ResourceKind.CLIPBOARD, description="")}
    >>> resources = {
    ...     "copy a": {"outputs": ["text:a"]},
    ...     "copy b": {"inputs": ["text:a"], "outputs": ["text:b"]},
    ...     "compare": {"inputs": ["text:a", "text:b"]},
    ... }
    >>> graph = read_task_graph({"nodes": list(resources), "resources": resources}, text, str)
    >>> [(item.spoiler, item.resource, item.consumer) for item in clash_of(graph)]
    [('copy b', 'text a', 'compare')]
    """
    predecessors = graph.predecessors
    needed = threats_of(graph)
    if successful_table(predecessors, needed).count():
        return ()
    for threat in list(needed):
        without = [other for other in needed if other is not threat]
        if not successful_table(predecessors, without).count():
            needed = without
    return tuple(threat.record(graph) for threat in needed)
