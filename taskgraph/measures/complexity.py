"""The five complexity dimensions and their levels (section 3.1, Table 2)."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from taskloom.resources.capability_presets import Capability, CapabilityPreset
from taskloom.resources.dimensions import TABLE, Cell
from taskloom.taskgraph.bitmasks import augment, depths, require_size, topological_order
from taskloom.taskgraph.measures.per_dimension import LevelConstraint
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.task import Complexity


@dataclass(frozen=True, slots=True)
class Shape:
    """The measures that depend only on the edges."""

    nodes: int
    edges: int
    """Number of distinct edges."""
    depth: int
    """Nodes on the longest path."""
    width: int
    """Maximum antichain."""
    largest_layer: int
    """Largest number of nodes at one depth."""
    components: int
    """Weakly connected components."""


def shape_of(predecessors: Sequence[int]) -> Shape:
    """The measures of a graph given as bitmasks, all exact.

    >>> shape_of((0, 0b1, 0b1, 0b110))
    Shape(nodes=4, edges=4, depth=3, width=2, largest_layer=2, components=1)

    Raises:
        GraphTooLargeError: more than 30 nodes.
        GraphInvalidError: the edges form a cycle.
    """
    require_size(predecessors)
    size = len(predecessors)
    is_ordered = not any(mask >> node for node, mask in enumerate(predecessors))
    depth, above = [0] * size, [0] * size
    matched: dict[int, int] = {}
    free = (1 << size) - 1
    groups: list[int] = []
    edges = pairs = 0
    for node in range(size) if is_ordered else topological_order(predecessors):
        direct = mask = closure = predecessors[node]
        if not direct:
            depth[node] = 1
            groups.append(1 << node)
            continue
        deepest = 0
        edges += direct.bit_count()
        while mask:
            low = mask & -mask
            ancestor = low.bit_length() - 1
            mask ^= low
            if depth[ancestor] > deepest:
                deepest = depth[ancestor]
            closure |= above[ancestor]
        depth[node], above[node] = deepest + 1, closure
        joined = 1 << node
        for group in groups:
            if group & direct:
                joined |= group
        groups = [group for group in groups if not group & direct]
        groups.append(joined)
        if closure & free:
            low = closure & free
            low &= -low
            matched[low.bit_length() - 1] = node
            free ^= low
            pairs += 1
        elif augment(node, above, matched, 0)[0]:
            pairs += 1
            free = (1 << size) - 1 & ~sum(1 << other for other in matched)
    return Shape(
        nodes=size,
        edges=edges,
        depth=max(depth, default=0),
        width=size - pairs,
        largest_layer=max(map(depth.count, set(depth)), default=0),
        components=len(groups),
    )


def complexity_from_shape(shape: Shape, application_categories: int) -> Complexity:
    """The complexity record for a shape and the number of distinct application categories.

    >>> complexity_from_shape(shape_of((0, 0b1, 0b1, 0b110)), 2).hierarchy_level
    'medium'
    """
    measures = {**asdict(shape), "application_categories": application_categories}
    levels = {row.level_column: row.level(measures[row.measure]) for row in TABLE}
    return Complexity.model_validate({**measures, **levels})


def complexity_of(graph: TaskGraph) -> Complexity:
    """The five dimensions of `graph` with their levels.

    Edges count distinct dependent pairs, depth counts nodes on the longest path (roots 1), width is the
    maximum antichain, knowledge counts distinct application categories.

    >>> complexity_of(TaskGraph(nodes=())).nodes
    0

    Raises:
        GraphTooLargeError: more than 30 subtasks.
    """
    categories = {node.application_category for node in graph.nodes}
    return complexity_from_shape(shape_of(graph.predecessors), len(categories))


def cell_of(complexity: Complexity) -> Cell:
    """The levels of `complexity` in the order of `DIMENSIONS`.

    >>> cell_of(complexity_from_shape(shape_of((0, 0b1, 0b1, 0b110)), 2))
    ('hard', 'medium', 'medium', 'medium', 'easy')
    """
    return tuple(getattr(complexity, row.level_column) for row in TABLE)


def cell_from_measures(*values: int) -> Cell:
    """The cell of one value per dimension, in the order of `DIMENSIONS`.

    >>> cell_from_measures(4, 5, 1, 5, 1)
    ('hard', 'hard', 'easy', 'hard', 'easy')
    """
    return tuple(row.level(value) for row, value in zip(TABLE, values, strict=True))


def depth_by_instance(graph: TaskGraph) -> dict[str, int]:
    """Depth of every subtask by instance id, the basis of the coverage rate's weights.

    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> depth_by_instance(read_task_graph({"nodes": ["a", "b"], "edges": [["b", "a"]]}, {}, str))
    {'a': 2, 'b': 1}
    """
    return {
        node.instance_id: depth for node, depth in zip(graph.nodes, depths(graph.predecessors), strict=True)
    }


def constraint_of(capability: Capability, preset: CapabilityPreset = "repaired") -> LevelConstraint:
    """The levels that a task must have to test `capability`.

    >>> long = Capability(name="long", title="Long", as_printed={"branch": "hard"}, repaired={"instruction": "hard"})
    >>> constraint_of(long).instruction, constraint_of(long, "as_printed").branch
    (('hard',), ('hard',))
    """  # noqa: E501
    return LevelConstraint.model_validate(
        {dimension: (level,) for dimension, level in capability.levels(preset).items()}
    )


def capabilities_met(
    cell: Cell, capabilities: Iterable[Capability], preset: CapabilityPreset = "repaired"
) -> tuple[str, ...]:
    """Names of the `capabilities` that a task of `cell` tests, in their order.

    >>> long = Capability(name="long", title="Long", as_printed={"branch": "hard"}, repaired={"instruction": "hard"})
    >>> cell = ("hard", "hard", "easy", "hard", "easy")
    >>> capabilities_met(cell, [long]), capabilities_met(cell, [long], "as_printed")
    (('long',), ())
    """  # noqa: E501
    return tuple(
        capability.name for capability in capabilities if constraint_of(capability, preset).allows(cell)
    )
