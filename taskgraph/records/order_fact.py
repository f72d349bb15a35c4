"""What a replay showed about two subtasks of one application: whether the second works after the first."""

from __future__ import annotations

from taskloom.resources.record import Record
from taskloom.taskgraph.records.provenance import Provenance


class OrderFact(Record):
    """One observation of two subtasks of an application, the second performed next after the first there."""

    fact_id: str
    """Opaque id: the replay and the position of the second subtask in it."""
    application: str
    """The application."""
    first: str
    """Id of the subtask performed before."""
    second: str
    """Id of the subtask performed next in this application; others may have been performed in between
    elsewhere."""
    works: bool
    """Whether the second one succeeded."""
    message: str = ""
    """What its evaluation function said, or what went wrong."""
    replay_id: str = ""
    """The replay that showed it."""
    provenance: Provenance = Provenance()
    """Where it comes from."""
