"""Coherency of the order of completion over the largest coherency of any successful order (section 4.1).

Undefined where that maximum is 0, because nothing could have been done more or less coherently, and where the
application of some subtask is not given.
"""

from taskloom.omnieval.lookup import Attempt
from taskloom.omnieval.scoring import executed_coherency
from taskloom.taskgraph.measures.coherency import maximum_coherency_of


def measure(attempt: Attempt) -> float | None:
    """At most 1: an agent that got away with an order in which a resource is lost may have a score above the
    maximum over successful orders.

    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> applications = {"a": "Notes", "b": "Mail", "c": "Notes"}
    >>> graph = read_task_graph({"nodes": ["a", "b", "c"], "applications": applications}, {}, str)
    >>> measure(Attempt(graph, ("a", "c"))), measure(Attempt(graph, ("a", "b", "c")))
    (1.0, 0.0)
    """
    if not all(node.application for node in attempt.graph.nodes):
        return None
    maximum = maximum_coherency_of(attempt.graph)
    return min(1.0, executed_coherency(attempt.graph, attempt.completed) / maximum) if maximum else None
