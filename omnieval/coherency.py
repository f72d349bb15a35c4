"""The coherency score of what an agent executed, and whether it can have executed that (section 4.1)."""

from collections.abc import Mapping, Sequence

from taskloom.omnieval.errors import SequenceImpossibleError
from taskloom.taskgraph.measures.coherency import coherency_score
from taskloom.taskgraph.measures.interference import Threat, threats_of
from taskloom.taskgraph.reading.task_graphs import UNNAMED_RESOURCE
from taskloom.taskgraph.records.graph import TaskGraph


def executed_coherency(graph: TaskGraph, completed: Sequence[str]) -> int:
    """Adjacent pairs of one application in the sequence of completed subtasks.

    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> graph = read_task_graph({"nodes": ["a", "b"], "applications": {"a": "Notes", "b": "Notes"}}, {}, str)
    >>> executed_coherency(graph, ["b", "a"])
    1
    """
    applications = {node.instance_id: node.application for node in graph.nodes}
    return coherency_score([applications[name] for name in completed])


def require_possible(graph: TaskGraph, completed: Sequence[str]) -> None:
    """Refuse a sequence of completions that no agent can have produced.

    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> require_possible(read_task_graph({"nodes": ["a", "b"], "edges": [["a", "b"]]}, {}, str), ["b"])
    Traceback (most recent call last):
    taskloom.omnieval.errors.SequenceImpossibleError: 'b' (number 1) depends on 'a', which is not ...

    A subtask may overwrite or consume what another still needs: that one can then not be completed, and is
    refused only if it stands later in the sequence.

    Raises:
        SequenceImpossibleError: the first subtask that is unknown, occurs twice, stands before one it depends
            on, or reads what is lost by then; the subtasks and the resource are named.
    """
    names = [node.instance_id for node in graph.nodes]
    index = {name: position for position, name in enumerate(names)}
    needed: dict[str, dict[str, str]] = {}
    for edge in graph.edges:
        named = edge.resource.category != UNNAMED_RESOURCE
        resource = f" for {edge.resource.category} {edge.resource.value}".rstrip() if named else ""
        needed.setdefault(edge.consumer, {})[edge.producer] = resource
    threats_on: dict[int, list[Threat]] = {position: [] for position in range(len(names))}
    for threat in threats_of(graph):
        threats_on[threat.consumer].append(threat)
    done: dict[str, int] = {}
    for position, name in enumerate(completed, start=1):
        if name not in index:
            known = f"Known: {', '.join(names)}."
            raise SequenceImpossibleError(
                f"Number {position} of the sequence, {name!r}, is not in the graph. {known}"
            )
        if name in done:
            again = f"the second time as number {position}"
            raise SequenceImpossibleError(f"{name!r} occurs twice in the sequence, {again}.")
        for producer, resource in needed.get(name, {}).items():
            if producer not in done:
                needs = f"depends on {producer!r}{resource}, which is not completed before it"
                raise SequenceImpossibleError(f"{name!r} (number {position}) {needs}.")
        for threat in threats_on[index[name]]:
            if _lost(threat, names, done):
                resource = f"{threat.resource.category} {threat.resource.value}".rstrip()
                deed = "overwritten" if threat.overwrites else "consumed"
                reads = f"reads {resource}, which {names[threat.spoiler]!r} has {deed} before"
                raise SequenceImpossibleError(f"{name!r} (number {position}) {reads}.")
        done[name] = position


def _lost(threat: Threat, names: Sequence[str], done: Mapping[str, int]) -> bool:
    """Whether the spoiler came before the consumer, and, where a slot is overwritten, after the producer."""
    spoiled = done.get(names[threat.spoiler], 0)
    return bool(spoiled) and not (threat.overwrites and done[names[threat.producer]] > spoiled)
