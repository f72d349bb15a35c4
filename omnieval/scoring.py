"""The score of an execution sequence on a task graph (section 4.1)."""

from collections.abc import Sequence

from pydantic import Field

from taskloom.omnieval.attempt import Attempt
from taskloom.omnieval.coherency import executed_coherency, require_possible
from taskloom.omnieval.errors import SequenceImpossibleError
from taskloom.omnieval.lookup import further, measured
from taskloom.resources.record import Record
from taskloom.taskgraph.measures.coherency import maximum_coherency_of
from taskloom.taskgraph.records.graph import TaskGraph


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
        SequenceImpossibleError: the graph is empty; or the sequence names an unknown subtask or one twice, or
            puts a subtask before one it depends on, or where a resource it reads is lost already. The first
            violation is named.
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
