"""Trials of the judge of instructions: spoilt ones among the others, and whether it noticed (method section
7)."""

from __future__ import annotations

from typing import Literal

from taskloom.resources.record import Record
from taskloom.taskgraph.records.provenance import Provenance

SpoilKind = Literal["left_out", "exchanged", "value_changed", "foreign_deed", "dependency_hidden"]
"""A deed left out, two values exchanged, a value changed, a foreign deed added, a dependency hidden."""


class JudgeTrial(Record):
    """One spoilt instruction that the judge was given like any other."""

    trial_id: str
    """Opaque id: task id and kind."""
    task_id: str
    """The task whose accepted instruction was spoilt."""
    kind: SpoilKind
    """What was done to it."""
    instruction: str
    """The spoilt instruction."""
    noticed: bool
    """Whether the judge found anything wrong."""
    findings: tuple[str, ...] = ()
    """What it found, in words."""
    provenance: Provenance = Provenance()
    """Where it comes from."""
