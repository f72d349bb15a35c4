"""Coherency of the order of completion, divided by the maximum over successful orders (section 4.1).

Undefined if that maximum is 0, because all orders are equally coherent, or if the application of some
subtask is unknown.
"""

from taskloom.omnieval.lookup import Attempt
from taskloom.omnieval.scoring import executed_coherency
from taskloom.taskgraph.measures.coherency import maximum_coherency_of


def measure(attempt: Attempt) -> float | None:
    """The ratio, capped at 1: a lucky agent's order, in which a resource would be lost, may be more coherent
    than any successful one.

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
