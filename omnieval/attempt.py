"""What metrics are computed from."""

from dataclasses import dataclass

from taskloom.taskgraph.records.graph import TaskGraph


@dataclass(frozen=True, slots=True)
class Attempt:
    """What an agent did on one task graph."""

    graph: TaskGraph
    completed: tuple[str, ...]
    """Completed subtasks, as instance ids, in the order of their completion."""
    steps: int | None = None
    """Steps the agent made; None where they are not known."""
