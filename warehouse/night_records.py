"""Records of what nights decide: which applications are explored, what still replays, which gates hold."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from taskloom.resources.record import Record
from taskloom.taskgraph.records.provenance import Provenance


class ExplorationChoice(Record):
    """Whether a run explored an application, and why."""

    choice_id: str
    """Run and application."""
    application: str
    """The application."""
    explored: bool
    """Whether it was explored."""
    reason: str
    """Why, or why not."""
    fingerprint: dict[str, str] = Field(default_factory=dict)
    """What the exploration depends on: version, manual, catalogue entry, prompts, models, settings,
    shortage."""
    complete: bool = False
    """Whether exploration and verification came to their end; only then is the application known as it is."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class Recheck(Record):
    """A verified subtask performed again, to see whether it still replays."""

    recheck_id: str
    """Run and subtask."""
    subtask_id: str
    """The subtask."""
    function_id: str
    """The evaluation function that judged it."""
    trajectory_id: str
    """The recording that was performed again."""
    outcome: Literal["holds", "retired", "undecided"]
    """Still replays; no longer replays, so it is retired; or nothing was shown, because it could not be
    begun."""
    message: str = ""
    """What went wrong."""
    attempts: int = 1
    """How often it was performed."""
    seconds: float = 0.0
    """Wall time."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class GateResult(Record):
    """Whether one gate of a publication held."""

    gate_id: str
    """Run, or time of a publication by hand, and gate."""
    gate: str
    """The gate, named as its setting."""
    held: bool
    """Whether it held."""
    forced: bool = False
    """Whether the version was published although it did not hold."""
    value: float | None = None
    """Its figure in the state to be published; None where too little is known."""
    previous: float | None = None
    """The same figure of the version before; None without one."""
    previous_version: str = ""
    """That version."""
    limit: float
    """What the settings allow."""
    explanation: str
    """Both figures in words."""
    provenance: Provenance = Provenance()
    """Where it comes from."""
