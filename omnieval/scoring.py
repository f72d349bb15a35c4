"""The score of an execution sequence on a task graph, and whether it can have been executed (section 4.1)."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from taskloom.omnieval.errors import SequenceImpossibleError
from taskloom.omnieval.lookup import Attempt, further, measured
from taskloom.resources.record import Record
from taskloom.taskgraph.measures.coherency import coherency_score, maximum_coherency_of
from taskloom.taskgraph.measures.interference import threats_of
from taskloom.taskgraph.reading.task_graphs import UNNAMED_RESOURCE
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.task import Interference


class Score(Record):
    """How an agent did on one task graph."""

    coverage_rate: float
    """Depth-weighted share of completed subtasks, 0 to 1."""
    coherency_score: int
    """Adjacent same-application pairs in the executed sequence."""
    maximum_coherency: int
    """Largest coherency score of any successful order."""
    logical_consistency: float | None
    """Their ratio; None where the maximum is 0, because nothing could have been done more or less coherently,
    and where the application of some subtask is not given."""
    success: bool
    """Whether every subtask was completed."""
    further_metrics: dict[str, float] = Field(default_factory=dict)
    """Values of other metrics by name; one that is undefined is missing."""


def score_of(graph: TaskGraph, completed: Sequence[str]) -> Score:
    """Score the subtasks `completed` in this order.

    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> graph = read_task_graph({"nodes": ["a", "b"], "edges": [["a", "b"]]}, {}, str)
    >>> score_of(graph, ["a"]).coverage_rate == 1 / 3
    True

    Raises:
        SequenceImpossibleError: the graph is empty, or the sequence is not possible (see `require_possible`).
        GraphTooLargeError: more than 30 subtasks.
    """
    if not graph.nodes:
        raise SequenceImpossibleError("The graph has no subtasks, so there is nothing to score.")
    require_possible(graph, completed)
    values = measured(Attempt(graph, tuple(completed)))
    return Score(
        coverage_rate=values["coverage_rate"] or 0.0,
        coherency_score=executed_coherency(graph, completed),
        maximum_coherency=maximum_coherency_of(graph) or 0,
        logical_consistency=values["logical_consistency"],
        success=len(completed) == len(graph.nodes),
        further_metrics=further(values),
    )


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

    A subtask may overwrite or consume what another still needs: that one can then not be completed, and is
    refused only if it stands later in the sequence.

    Raises:
        SequenceImpossibleError: the first subtask that is unknown, occurs twice, stands before one it depends
            on, or reads what is lost by then; the subtasks and the resource are named.
    """
    names = [node.instance_id for node in graph.nodes]
    needed: dict[str, dict[str, str]] = {}
    for edge in graph.edges:
        named = edge.resource.category != UNNAMED_RESOURCE
        resource = f" for {edge.resource.category} {edge.resource.value}".rstrip() if named else ""
        needed.setdefault(edge.consumer, {})[edge.producer] = resource
    threats = [threat.record(graph) for threat in threats_of(graph)]
    done: dict[str, int] = {}
    for position, name in enumerate(completed, start=1):
        if name not in names:
            raise SequenceImpossibleError(
                f"Number {position} of the sequence, {name!r}, is not in the graph."
                f" Known: {', '.join(names)}."
            )
        if name in done:
            again = f"the second time as number {position}"
            raise SequenceImpossibleError(f"{name!r} occurs twice in the sequence, {again}.")
        for producer, resource in needed.get(name, {}).items():
            if producer not in done:
                needs = f"depends on {producer!r}{resource}, which is not completed before it"
                raise SequenceImpossibleError(f"{name!r} (number {position}) {needs}.")
        for threat in threats:
            if threat.consumer == name and _has_struck(threat, done):
                deed = "overwritten" if threat.kind == "overwritten_slot" else "consumed"
                reads = f"reads {threat.resource}, which {threat.spoiler!r} has {deed} before"
                raise SequenceImpossibleError(f"{name!r} (number {position}) {reads}.")
        done[name] = position


def _has_struck(threat: Interference, done: Mapping[str, int]) -> bool:
    """Whether the spoiler has come, and, where a slot is overwritten, after the producer."""
    spoiled = done.get(threat.spoiler, 0)
    return bool(spoiled) and not (threat.kind == "overwritten_slot" and done[threat.producer] > spoiled)
