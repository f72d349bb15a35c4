"""What evaluation functions said of outcomes whose right or wrong is known from outside."""

from __future__ import annotations

from taskloom.resources.record import Record
from taskloom.taskgraph.records.provenance import Provenance


class JudgedOutcome(Record):
    """What a function said of one labelled outcome."""

    outcome_id: str
    """Opaque id: the case and the function."""
    case_id: str
    """The outcome."""
    subtask_id: str
    """The subtask."""
    application: str
    """Its application."""
    kind: str
    """Kind of outcome, such as `wrong content` or `another route`."""
    right: bool
    """Whether the outcome is right."""
    accepted: bool
    """Whether the function said success."""
    function_id: str
    """The function."""
    message: str = ""
    """What it said."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


def outcome_id(case_id: str, function_id: str) -> str:
    """The id of a function's verdict on a case.

    >>> outcome_id("notes.write/empty", "notes.write:1a2b")
    'notes.write/empty@notes.write:1a2b'
    """
    return f"{case_id}@{function_id}"
