"""Share of completed subtasks, weighted by their depth (section 4.1)."""

from collections.abc import Collection, Mapping

from taskloom.omnieval.errors import SequenceImpossibleError
from taskloom.omnieval.lookup import Attempt
from taskloom.taskgraph.measures.complexity import depth_by_instance


def measure(attempt: Attempt) -> float:
    """The coverage rate of an attempt; 1 for a graph without subtasks."""
    depths = depth_by_instance(attempt.graph)
    return coverage_rate(depths, attempt.completed) if depths else 1.0


def coverage_rate(depths: Mapping[str, int], completed: Collection[str]) -> float:
    """Depth-weighted share of completed subtasks.

    Roots have depth 1. The weights w = d / Σd sum to 1, so CR = Σd over completed subtasks / Σd over all.

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
