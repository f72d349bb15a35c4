"""Capabilities as constraints on complexity levels (Table 12)."""

from typing import Literal

from taskloom.resources.dimensions import Dimension, Level
from taskloom.resources.record import Record

CapabilityPreset = Literal["as_printed", "repaired"]
"""Which reading of Table 12: the paper's stars, or ours, which corrects two inconsistent rows."""


class Capability(Record):
    """One of the ten capabilities: the levels that a task must have to test it."""

    name: str
    """Name in settings and file names."""
    title: str
    """Name in reports, as the paper writes it."""
    as_printed: dict[Dimension, Level]
    """Levels required by Table 12; an omitted dimension may have any level."""
    repaired: dict[Dimension, Level]
    """Levels required by taskloom's reading."""

    def levels(self, preset: CapabilityPreset = "repaired") -> dict[Dimension, Level]:
        """The levels that `preset` requires."""
        return dict(self.as_printed if preset == "as_printed" else self.repaired)
