"""Builds the task record of a closed set of instances."""

import random
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from pathlib import PurePosixPath

from taskloom.resources.capability_presets import Capability
from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.synthesis.composition.pool.compiled_pool import CompiledPool
from taskloom.taskgraph.bitmasks import bits, topological_order
from taskloom.taskgraph.measures.coherency import easier_order, maximum_coherency_of
from taskloom.taskgraph.measures.complexity import (
    capabilities_met,
    cell_of,
    complexity_of,
    depth_by_instance,
)
from taskloom.taskgraph.measures.interference import Orders, orders_of, successful_table, threats_of
from taskloom.taskgraph.measures.orders import canonical_key, task_id
from taskloom.taskgraph.records.graph import Dependency, TaskGraph
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.task import Intent, Interference, Task


@dataclass(frozen=True, slots=True)
class TaskBuilder:
    """Builds task records."""

    pool: CompiledPool
    capabilities: Sequence[Capability]
    scenario_of: Callable[[Sequence[str], Sequence[str]], str] | None
    """Names the scenario for a task's application categories and those of its ends."""
    seed: int
    provenance: Provenance

    def graph(self, members: int) -> TaskGraph:
        """The task graph of a closed set: its instances in a topological order, and every link between
        them."""
        numbers = list(bits(members))
        position = {number: index for index, number in enumerate(numbers)}
        predecessors = [0] * len(numbers)
        edges = []
        for producer, consumer, resource in self.pool.links(members):
            predecessors[position[consumer]] |= 1 << position[producer]
            producer_id, consumer_id = (
                self.pool.instances[number].node.instance_id for number in (producer, consumer)
            )
            edges.append(Dependency(producer=producer_id, consumer=consumer_id, resource=resource))
        ordered = [numbers[index] for index in topological_order(predecessors)]
        return TaskGraph(
            nodes=tuple(self.pool.instances[number].node for number in ordered), edges=tuple(edges)
        )

    def orders(self, graph: TaskGraph) -> Orders:
        """The orders of `graph` that its task lists, cached.

        Raises:
            GraphTooLargeError: there are too many to count.
        """
        return orders_of(graph, seed=self.seed)

    def task_of(self, graph: TaskGraph, intent: Intent | None, *, twin_of: str = "") -> Task:
        """The task record of `graph`, which must have a successful order, with all its measures."""
        orders = self.orders(graph)
        complexity = complexity_of(graph)
        names = [node.instance_id for node in graph.nodes]
        scenario = intent.scenario if intent else ""
        if not scenario and self.scenario_of:
            categories = sorted({node.application_category for node in graph.nodes})
            scenario = self.scenario_of(categories, _end_categories(graph))
        return Task(
            task_id=identity(graph),
            graph=graph,
            intent_id=intent.intent_id if intent else "",
            intent=intent.text if intent else "",
            scenario=scenario,
            world=graph.nodes[0].world,
            complexity=complexity,
            capabilities=capabilities_met(cell_of(complexity), self.capabilities),
            low_level_instructions=tuple(graph.nodes[index].instruction for index in orders.successful[0]),
            order_count=orders.count,
            successful_order_count=orders.successful_count,
            successful_orders=tuple(
                tuple(names[index] for index in order) for order in _listed_orders(graph, orders)
            ),
            interferences=tuple(threat.record(graph) for threat in orders.threats),
            maximum_coherency=maximum_coherency_of(graph) or 0,
            twin_of=twin_of,
            provenance=self.provenance,
        )


def identity(graph: TaskGraph) -> str:
    """The id of the task of a graph."""
    return task_id(canonical_key([node.instance_id for node in graph.nodes], graph.pairs))


def _listed_orders(graph: TaskGraph, orders: Orders) -> tuple[tuple[int, ...], ...]:
    """The orders to list; if only some were drawn, the last is replaced by the easiest to follow."""
    drawn = orders.successful
    if len(drawn) < 2 or len(drawn) == orders.successful_count:
        return drawn
    easy = easier_order(graph, drawn)
    return drawn if easy in drawn else (*drawn[:-1], easy)


def _end_categories(graph: TaskGraph) -> list[str]:
    """Application categories of the subtasks that no other reads from, those of the longest chains first."""
    depths = depth_by_instance(graph)
    producers = {edge.producer for edge in graph.edges}
    ends = [node for node in graph.nodes if node.instance_id not in producers]
    ends.sort(key=lambda node: (-depths[node.instance_id], node.application_category))
    return list(dict.fromkeys(node.application_category for node in ends))


def combines_forms_of_one_file(graph: TaskGraph) -> bool:
    """Whether a subtask reads a file together with something made from that file or another form of it: a
    file of the same name with any suffix in any folder."""
    read: dict[str, set[Resource]] = {}
    for node in graph.nodes:
        made = {
            edge.resource: read[edge.producer] for edge in graph.edges if edge.consumer == node.instance_id
        }
        files = {item for item in node.inputs if item.kind is ResourceKind.FILE}
        if any(_file_stems(files - {item}) & _file_stems(sources) for item, sources in made.items()):
            return True
        read[node.instance_id] = set(node.inputs).union(*made.values())
    return False


def _file_stems(resources: Set[Resource]) -> set[str]:
    return {PurePosixPath(item.value).stem for item in resources if item.kind is ResourceKind.FILE}


def describe_clash(clash: Sequence[Interference]) -> str:
    """Describe a clash, with both subtasks named."""
    parts = []
    for item in clash:
        verb = "overwrites" if item.kind == "overwritten_slot" else "consumes"
        origin = f" of {item.producer}" if item.producer else ""
        parts.append(f"{item.spoiler} {verb} {item.resource}{origin}, which {item.consumer} still needs")
    return "; ".join(parts)


def permuted_orders(task: Task, number: int = 3) -> list[tuple[str, ...]]:
    """Up to `number` different successful orders of a task as instance ids, as different as possible.

    Instructions that follow them describe the same task in different orders. The first is the order of
    `low_level_instructions`; each further one is the most inverted of a uniform sample.
    """
    graph = task.graph
    table = successful_table(graph.predecessors, threats_of(graph))
    drawn = table.listed(1)
    if task.successful_order_count > 1:
        pool = min(task.successful_order_count, 40)
        candidates = table.sampled(pool, random.Random(f"permutations 0 {task.task_id}"))
        while candidates and len(drawn) < number:
            farthest = max(
                candidates, key=lambda order: (min(_inversions(order, other) for other in drawn), order)
            )
            candidates.remove(farthest)
            if farthest not in drawn:
                drawn.append(farthest)
    return [tuple(graph.nodes[index].instance_id for index in order) for order in drawn]


def _inversions(first: Sequence[int], second: Sequence[int]) -> int:
    positions = map(second.index, first)
    return sum(earlier > later for earlier, later in combinations(positions, 2))
