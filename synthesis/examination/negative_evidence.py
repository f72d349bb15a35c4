"""One piece of evidence that an evaluation function must judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from taskgraph.records.evaluation_function import NegativeFamily
from taskgraph.records.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Negative:
    """One piece of evidence that an evaluation function must judge."""

    family: NegativeFamily
    """Family of the kill matrix; a `second_positive` must pass, all others must fail."""
    description: str
    """What the evidence stands for, in words for the writer of the function."""
    parameters: Mapping[str, str]
    """Parameters the function is called with."""
    evidence: Evidence
    """What it judges."""
    baseline: Evidence | None = None
    """The state before the first step; a function that passes there with these parameters cannot be blamed here."""
