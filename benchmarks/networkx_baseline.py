"""The baseline: random growth with rejection in its simplest form, on networkx."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeVar

import networkx

from taskloom.resources.dimensions import Cell
from taskloom.resources.instances import Resource
from taskloom.taskgraph.measures.complexity import cell_from_measures
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Intent

Node = TypeVar("Node", bound=Hashable)


@dataclass
class BaselineRun:
    """Results of the baseline."""

    seconds: float = 0.0
    last_rate: float = 0.0
    """Tasks per second in the last quarter of the time; the rate only falls, as tasks repeat and cells fill.
    """
    attempts: int = 0
    tasks: int = 0
    per_cell: Counter[Cell] = field(default_factory=Counter)


def networkx_measures(graph: networkx.DiGraph[Node]) -> tuple[int, int, int, int, int]:
    """Edges, nodes, application categories, depth and width, each by the library's algorithm."""
    closure = networkx.transitive_closure_dag(graph)
    pairs: networkx.Graph[tuple[str, Node]] = networkx.Graph()
    pairs.add_nodes_from((("out", node) for node in graph), bipartite=0)
    pairs.add_nodes_from((("in", node) for node in graph), bipartite=1)
    pairs.add_edges_from((("out", producer), ("in", consumer)) for producer, consumer in closure.edges)
    top = [("out", node) for node in graph]
    matching = networkx.bipartite.hopcroft_karp_matching(pairs, top_nodes=top)
    return (
        graph.number_of_edges(),
        graph.number_of_nodes(),
        len(set(networkx.get_node_attributes(graph, "category").values())),
        networkx.dag_longest_path_length(graph) + 1,
        graph.number_of_nodes() - len(matching) // 2,
    )


def random_growth(
    nodes: Sequence[BoundSubtask],
    intents: Sequence[Intent],
    fixtures: Mapping[str, Set[Resource]],
    *,
    wanted: int,
    per_cell: int,
    maximum_size: int,
    maximum_components: int,
    seconds: float,
    seed: int = 0,
) -> BaselineRun:
    """Grow random sets inside random intents, up to `wanted` tasks or `seconds` of processor time."""
    generator = random.Random(seed)
    by_subtask: dict[str, list[BoundSubtask]] = {}
    for node in nodes:
        by_subtask.setdefault(node.subtask_id, []).append(node)
    groups = [[node for name in intent.subtask_ids for node in by_subtask[name]] for intent in intents]
    seen: set[frozenset[str]] = set()
    run = BaselineRun()
    start = time.process_time()
    tasks_before = 0
    while run.tasks < wanted and run.seconds < seconds:
        run.seconds = time.process_time() - start
        if run.seconds < seconds * 3 / 4:
            tasks_before = run.tasks
        run.attempts += 1
        graph = _grow(generator.choice(groups), generator.randint(2, maximum_size), fixtures, generator)
        if graph is None or not networkx.is_directed_acyclic_graph(graph):
            continue
        if networkx.number_weakly_connected_components(graph) > maximum_components:
            continue
        key = frozenset(graph.nodes)
        edges, size, categories, depth, width = networkx_measures(graph)
        cell = cell_from_measures(edges, size, categories, depth, width)
        if key in seen or run.per_cell[cell] >= per_cell:
            continue
        seen.add(key)
        run.per_cell[cell] += 1
        run.tasks += 1
    run.last_rate = max(1, run.tasks - tasks_before) / (seconds / 4)
    return run


def _grow(
    group: list[BoundSubtask], size: int, fixtures: Mapping[str, Set[Resource]], generator: random.Random
) -> networkx.DiGraph[str] | None:
    """A random closed set of `size`, grown by one instance at a time, or None if it cannot grow further."""
    graph: networkx.DiGraph[str] = networkx.DiGraph()
    writers: dict[Resource, str] = {}
    read_at_reset: set[Resource] = set()
    remaining = list(group)
    while graph.number_of_nodes() < size:
        addable = [
            node
            for node in remaining
            if node.instance_id not in graph
            and not any(resource in writers or resource in read_at_reset for resource in node.outputs)
            and all(
                needed in writers or (needed.slot is None and needed in fixtures[node.application])
                for needed in node.inputs
            )
        ]
        if not addable:
            return None
        node = generator.choice(addable)
        graph.add_node(node.instance_id, category=node.application_category)
        for needed in node.inputs:
            if needed in writers:
                graph.add_edge(writers[needed], node.instance_id)
            else:
                read_at_reset.add(needed)
        writers.update(dict.fromkeys(node.outputs, node.instance_id))
        remaining.remove(node)
    return graph
