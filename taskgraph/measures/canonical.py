"""Canonical keys: equal for equal tasks, whatever the order in which nodes and edges are listed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from taskloom.taskgraph.records.graph import TaskGraph

CanonicalKey = tuple[tuple[str, ...], tuple[tuple[int, int], ...]]
"""Sorted labels, and edges as sorted pairs of positions in them."""


def canonical_key(labels: Sequence[str], edges: Iterable[tuple[str, str]]) -> CanonicalKey:
    """The canonical form of a labelled graph whose labels are distinct.

    No isomorphism test is needed: a task never holds the same bound subtask twice, so sorting is canonical.

    >>> canonical_key(["b", "a"], [("b", "a")])
    (('a', 'b'), ((1, 0),))
    """
    ordered = tuple(sorted(labels))
    position = {label: index for index, label in enumerate(ordered)}
    pairs = sorted({(position[producer], position[consumer]) for producer, consumer in edges})
    return ordered, tuple(pairs)


def key_of(graph: TaskGraph) -> CanonicalKey:
    """The canonical key of a task graph: instance ids and dependent pairs.

    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> key_of(read_task_graph({"nodes": ["b", "a"], "edges": [["b", "a"]]}, {}, str))
    (('a', 'b'), ((1, 0),))
    """
    return canonical_key([node.instance_id for node in graph.nodes], graph.pairs)


def task_id(key: CanonicalKey) -> str:
    """An opaque task id made from a canonical key alone: equal tasks have equal ids.

    >>> task_id(canonical_key(["b", "a"], [])) == task_id(canonical_key(["a", "b"], []))
    True
    """
    labels, pairs = key
    text = "\x1e".join(labels) + "\x1d" + ";".join(f"{first},{second}" for first, second in pairs)
    return hashlib.sha256(text.encode()).hexdigest()[:24]
