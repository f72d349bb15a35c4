"""All small graphs, and brute force over their permutations: the oracle of the property tests."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

from hypothesis import strategies as st

from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.taskgraph.records.graph import Dependency, TaskGraph
from taskloom.taskgraph.records.subtask import BoundSubtask


def every_graph(size: int) -> Iterator[tuple[int, ...]]:
    """Every labelled acyclic graph of `size` nodes whose numbering is topological: each shape occurs."""
    pairs = [(producer, consumer) for consumer in range(size) for producer in range(consumer)]
    for chosen in product((0, 1), repeat=len(pairs)):
        masks = [0] * size
        for present, (producer, consumer) in zip(chosen, pairs, strict=True):
            masks[consumer] |= present << producer
        yield tuple(masks)


@st.composite
def graphs(draw: st.DrawFn, largest: int = 8) -> tuple[int, ...]:
    """An acyclic graph whose node numbers are shuffled."""
    size = draw(st.integers(1, largest))
    order = draw(st.permutations(range(size)))
    masks = [0] * size
    for position, node in enumerate(order):
        for producer in order[:position]:
            if draw(st.booleans()):
                masks[node] |= 1 << producer
    return tuple(masks)


def is_order(predecessors: tuple[int, ...], sequence: tuple[int, ...]) -> bool:
    """Whether every node stands after its predecessors."""
    done = 0
    for node in sequence:
        if predecessors[node] & ~done:
            return False
        done |= 1 << node
    return True


def brute_orders(predecessors: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All topological orders, lexicographically, by trying every permutation."""
    return [order for order in permutations(range(len(predecessors))) if is_order(predecessors, order)]


def file(value: str, category: str = "text_path") -> Resource:
    return Resource(category=category, kind=ResourceKind.FILE, value=value)


def clipboard(value: str = "") -> Resource:
    return Resource(category="text_in_clipboard", kind=ResourceKind.CLIPBOARD, value=value)


def node(
    name: str,
    *,
    application: str = "editor",
    category: str = "Office",
    inputs: tuple[Resource, ...] = (),
    outputs: tuple[Resource, ...] = (),
    consumed: tuple[Resource, ...] = (),
    subtask: str = "",
) -> BoundSubtask:
    return BoundSubtask(
        instance_id=name,
        subtask_id=subtask or name,
        application=application,
        application_category=category,
        instruction=f"Do {name}.",
        inputs=inputs,
        outputs=outputs,
        consumed=consumed,
    )


def linked(*nodes: BoundSubtask) -> TaskGraph:
    """The graph with an edge wherever one node writes exactly what another reads."""
    edges = [
        Dependency(producer=writer.instance_id, consumer=reader.instance_id, resource=resource)
        for reader in nodes
        for resource in reader.inputs
        for writer in nodes
        if writer is not reader and resource in writer.outputs
    ]
    return TaskGraph(nodes=nodes, edges=tuple(edges))


def shaped(predecessors: tuple[int, ...], applications: str = "") -> TaskGraph:
    """A task graph of the given shape with one file per edge; one letter of `applications` per node."""
    size = len(predecessors)
    names = [f"s{number}" for number in range(size)]
    order = brute_free_order(predecessors)
    nodes = []
    for number in order:
        application = applications[number] if applications else "editor"
        nodes.append(
            node(
                names[number],
                application=application,
                category=f"category of {application}",
                inputs=tuple(
                    file(f"{other}-{number}") for other in range(size) if predecessors[number] >> other & 1
                ),
                outputs=tuple(
                    file(f"{number}-{other}") for other in range(size) if predecessors[other] >> number & 1
                ),
            )
        )
    return linked(*nodes)


def brute_free_order(predecessors: tuple[int, ...]) -> list[int]:
    done = 0
    order: list[int] = []
    while len(order) < len(predecessors):
        for number, needed in enumerate(predecessors):
            if not done >> number & 1 and not needed & ~done:
                order.append(number)
                done |= 1 << number
    return order
