"""Coherency of the order of completion over the largest coherency of any successful order (section 4.1).

Undefined where that maximum is 0, because nothing could have been done more or less coherently, and where the
application of some subtask is not given.
"""

from taskloom.omnieval.attempt import Attempt
from taskloom.omnieval.coherency import executed_coherency
from taskloom.taskgraph.measures.coherency import maximum_coherency_of


def measure(attempt: Attempt) -> float | None:
    """The logical consistency of an attempt; None where it is undefined."""
    if not all(node.application for node in attempt.graph.nodes):
        return None
    maximum = maximum_coherency_of(attempt.graph) or 0
    return logical_consistency(executed_coherency(attempt.graph, attempt.completed), maximum)


def logical_consistency(coherency_score: int, maximum: int) -> float | None:
    """The coherency score over the largest possible one; None where that is 0.

    At most 1: an agent that got away with an order in which a resource is lost may have a score above the
    maximum over successful orders.

    >>> logical_consistency(1, 2), logical_consistency(0, 0)
    (0.5, None)
    """
    return min(1.0, coherency_score / maximum) if maximum else None
