"""The coherency score of what an agent executed, and whether it can have executed that (section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence

from omnieval.errors import SequenceImpossible
from taskgraph.coherency import coherency_score
from taskgraph.graph import TaskGraph
from taskgraph.interference import Threat, threats_of
from taskgraph.reading import UNNAMED_RESOURCE


def executed_coherency(graph: TaskGraph, completed: Sequence[str]) -> int:
    """Adjacent pairs of one application in the sequence of completed subtasks.

    >>> from taskgraph.reading import read_task_graph
    >>> graph = read_task_graph({"nodes": ["a", "b"], "applications": {"a": "Notes", "b": "Notes"}}, {}, str)
    >>> executed_coherency(graph, ["b", "a"])
    1
    """
    applications = {node.instance_id: node.application for node in graph.nodes}
    return coherency_score([applications[name] for name in completed])


def require_possible(graph: TaskGraph, completed: Sequence[str]) -> None:
    """Refuse a sequence of completions that no agent can have produced.

    >>> from taskgraph.reading import read_task_graph
    >>> require_possible(read_task_graph({"nodes": ["a", "b"], "edges": [["a", "b"]]}, {}, str), ["b"])
    Traceback (most recent call last):
    omnieval.errors.SequenceImpossible: 'b' (number 1) depends on 'a', which is not completed before it.

    Raises:
        SequenceImpossible: the first subtask that is unknown, stands twice, stands before one it depends on, or comes
            when a resource is lost; both subtasks and the resource are named.
    """
    names = [node.instance_id for node in graph.nodes]
    index = {name: position for position, name in enumerate(names)}
    needed: dict[str, dict[str, str]] = {}
    for edge in graph.edges:
        named = edge.resource.category != UNNAMED_RESOURCE
        resource = f" for {edge.resource.category} {edge.resource.value}".rstrip() if named else ""
        needed.setdefault(edge.consumer, {})[edge.producer] = resource
    threats = threats_of(graph)
    done: set[str] = set()
    for position, name in enumerate(completed, start=1):
        if name not in index:
            raise SequenceImpossible(
                f"Number {position} of the sequence, {name!r}, is not in the graph. Known: {', '.join(names)}."
            )
        if name in done:
            raise SequenceImpossible(
                f"{name!r} stands twice in the sequence, the second time as number {position}."
            )
        for producer, resource in needed.get(name, {}).items():
            if producer not in done:
                raise SequenceImpossible(
                    f"{name!r} (number {position}) depends on {producer!r}{resource}, which is not completed before it."
                )
        for threat in threats:
            if threat.spoiler == index[name] and _loses(threat, names, done):
                verb = "overwrites" if threat.overwrites else "consumes"
                raise SequenceImpossible(
                    f"{name!r} (number {position}) {verb} {threat.resource.category} {threat.resource.value}".rstrip()
                    + f" before {names[threat.consumer]!r} has read it."
                )
        done.add(name)


def _loses(threat: Threat, names: Sequence[str], done: set[str]) -> bool:
    """Whether performing the spoiler now loses what the consumer still needs."""
    if names[threat.consumer] in done:
        return False
    return not threat.overwrites or names[threat.producer] in done
