"""One piece of evidence that an evaluation function must judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from taskloom.taskgraph.records.evaluation_function import GENUINE_FAMILIES, CaseFamily
from taskloom.taskgraph.records.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Case:
    """One piece of evidence that an evaluation function must judge."""

    family: CaseFamily
    """Family of the kill matrix; says whether the work is right or wrong."""
    description: str
    """What was done, in words for the writer of the function."""
    parameters: Mapping[str, str]
    """Parameters the function is called with."""
    evidence: Evidence
    """The state at the end."""
    start: Evidence
    """The state at the start."""
    excusable: bool = False
    """Whether a function that passes at the start already cannot be blamed: what it was asked about had
    happened before."""

    @property
    def right(self) -> bool:
        """Whether the work is right, so that the function must pass it."""
        return self.family in GENUINE_FAMILIES
