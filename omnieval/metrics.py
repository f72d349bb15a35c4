"""The two graph metrics of OmniEval: coverage rate and logical consistency (section 4.1)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from omnieval.coherency import executed_coherency, require_possible
from omnieval.errors import SequenceImpossibleError
from resources.record import Record
from taskgraph.measures.coherency import maximum_coherency_of
from taskgraph.measures.complexity import depth_by_instance
from taskgraph.records.graph import TaskGraph


class Score(Record):
    """How an agent did on one task graph."""

    coverage_rate: float
    """Depth-weighted share of completed subtasks, 0 to 1."""
    coherency_score: int
    """Adjacent same-application pairs in the executed sequence."""
    maximum_coherency: int
    """Largest coherency score of any successful order."""
    logical_consistency: float | None
    """Their ratio; None where the maximum is 0, because nothing could have been done more or less coherently, and
    where the application of some subtask is not given."""
    success: bool
    """Whether every subtask was completed."""


def coverage_rate(depths: Mapping[str, int], completed: Collection[str]) -> float:
    """Share of the subtasks' depths that was completed (section 4.1): the deeper a subtask, the more it weighs.

    Roots have depth 1. The weights w = d / Σd sum to 1, so that CR = Σ d over the completed / Σ d over all.

    >>> coverage_rate({"a": 1, "b": 2, "c": 2}, ["a", "b"])
    0.6

    Raises:
        SequenceImpossibleError: a completed subtask is not in the graph, or the graph is empty.
    """
    unknown = sorted(set(completed) - depths.keys())
    if unknown:
        raise SequenceImpossibleError(
            f"These subtasks are not in the graph: {unknown}. Known: {sorted(depths)}."
        )
    if not depths:
        raise SequenceImpossibleError("The graph has no subtasks, so there is nothing to cover.")
    return sum(depths[name] for name in set(completed)) / sum(depths.values())


def logical_consistency(coherency_score: int, maximum: int) -> float | None:
    """The coherency score over the largest possible one; None where that is 0 (section 4.1).

    At most 1: an agent that got away with an order in which a resource is lost may have a score above the maximum over
    successful orders.

    >>> logical_consistency(1, 2), logical_consistency(0, 0)
    (0.5, None)
    """
    return min(1.0, coherency_score / maximum) if maximum else None


def score_of(graph: TaskGraph, completed: Sequence[str]) -> Score:
    """Score the subtasks `completed` in this order.

    >>> from taskgraph.reading.task_graphs import read_task_graph
    >>> graph = read_task_graph({"nodes": ["a", "b"], "edges": [["a", "b"]]}, {}, str)
    >>> score_of(graph, ["a"]).coverage_rate == 1 / 3
    True

    Raises:
        SequenceImpossibleError: the sequence names an unknown subtask or one twice, or puts a subtask before one it depends
            on, or where a resource it reads is lost already; the first violation is named.
        GraphTooLargeError: more than 30 subtasks.
    """
    require_possible(graph, completed)
    score = executed_coherency(graph, completed)
    maximum = maximum_coherency_of(graph) or 0
    known = all(node.application for node in graph.nodes)
    return Score(
        coverage_rate=coverage_rate(depth_by_instance(graph), completed),
        coherency_score=score,
        maximum_coherency=maximum,
        logical_consistency=logical_consistency(score, maximum) if known else None,
        success=len(completed) == len(graph.nodes),
    )
