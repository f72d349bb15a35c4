"""Task graphs G = {S, R}: bound subtasks and the dependencies between them (section 3.1)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Self

from pydantic import model_validator

from taskloom.resources.instances import Resource
from taskloom.resources.record import Record
from taskloom.taskgraph.bitmasks import cycle_in
from taskloom.taskgraph.errors import GraphInvalidError
from taskloom.taskgraph.records.subtask import BoundSubtask

if TYPE_CHECKING:
    import networkx


class Dependency(Record):
    """`consumer` reads a resource that `producer` writes."""

    producer: str
    """Instance id of the subtask that writes."""
    consumer: str
    """Instance id of the subtask that reads."""
    resource: Resource
    """The resource that flows."""


class TaskGraph(Record):
    """A directed acyclic graph of bound subtasks.

    Guarantees unique instance ids, known endpoints, no self-loops and no cycles.

    Raises:
        ValidationError: pydantic found a duplicate id, an unknown endpoint or a self-loop; names them.
        GraphInvalidError: the edges form a cycle, which is named.
    """

    nodes: tuple[BoundSubtask, ...]
    """Subtasks, in a topological order."""
    edges: tuple[Dependency, ...] = ()
    """Dependencies; several resources between one pair are several records, but one edge of the graph."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        counts = Counter(node.instance_id for node in self.nodes)
        duplicates = sorted(name for name, count in counts.items() if count > 1)
        if duplicates:
            raise ValueError(f"subtasks occur twice in the graph: {', '.join(duplicates)}")
        for edge in self.edges:
            if edge.producer == edge.consumer:
                raise ValueError(f"subtask {edge.producer} depends on itself")
            unknown = sorted({edge.producer, edge.consumer} - counts.keys())
            if unknown:
                raise ValueError(
                    f"edge {edge.producer} → {edge.consumer} names unknown subtasks: {', '.join(unknown)}"
                )
        self.predecessors  # noqa: B018 - raises on cycles
        return self

    @property
    def predecessors(self) -> tuple[int, ...]:
        """For every node, in order, its direct predecessors as a bitmask.

        >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
        >>> read_task_graph({"nodes": ["a", "b"], "edges": [["a", "b"]]}, {}, str).predecessors
        (0, 1)

        Raises:
            GraphInvalidError: the edges form a cycle.
        """
        index = {node.instance_id: position for position, node in enumerate(self.nodes)}
        masks = [0] * len(self.nodes)
        for edge in self.edges:
            masks[index[edge.consumer]] |= 1 << index[edge.producer]
        if any(mask >> node for node, mask in enumerate(masks)):
            cycle = cycle_in(masks)
            if cycle:
                names = " → ".join(self.nodes[node].instance_id for node in [*cycle, cycle[0]])
                raise GraphInvalidError(f"these subtasks depend on each other in a cycle: {names}")
        return tuple(masks)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Edges as distinct (producer, consumer) pairs, sorted.

        >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
        >>> read_task_graph({"nodes": ["a", "b", "c"], "edges": {"b": ["c"], "a": ["b", "c"]}}, {}, str).pairs
        (('a', 'b'), ('a', 'c'), ('b', 'c'))
        """
        return tuple(sorted({(edge.producer, edge.consumer) for edge in self.edges}))

    def to_networkx(self) -> networkx.DiGraph[str]:
        """The graph for drawing, GraphML and networkx algorithms; edges carry resource names.

        >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
        >>> read_task_graph({"nodes": ["a", "b"], "edges": [["a", "b"]]}, {}, str).to_networkx().edges
        OutEdgeView([('a', 'b')])
        """
        import networkx

        graph: networkx.DiGraph[str] = networkx.DiGraph()
        for node in self.nodes:
            graph.add_node(
                node.instance_id,
                subtask=node.subtask_id,
                application=node.application,
                application_category=node.application_category,
                instruction=node.instruction,
            )
        for edge in self.edges:
            names = [edge.resource.category, edge.resource.value]
            label = " ".join(name for name in names if name)
            if graph.has_edge(edge.producer, edge.consumer):
                label = f"{graph.edges[edge.producer, edge.consumer]['resources']}; {label}"
            graph.add_edge(edge.producer, edge.consumer, resources=label)
        return graph
