"""Capabilities as constraints on complexity levels (Table 12), as the catalogue gives them."""

from typing import Literal

from taskloom.resources.dimensions import Dimension, Level
from taskloom.resources.record import Record

CapabilityPreset = Literal["as_printed", "repaired"]
"""Which reading of Table 12: the paper's stars, or ours where two rows cannot mean what they say."""


class Capability(Record):
    """One of the ten capabilities: the levels a test task for it must have."""

    name: str
    """Name in settings and file names."""
    title: str
    """Name in reports, as the paper writes it."""
    as_printed: dict[Dimension, Level]
    """Levels demanded by Table 12; a dimension left out may have any level."""
    repaired: dict[Dimension, Level]
    """Levels demanded by taskloom's reading."""

    def levels(self, preset: CapabilityPreset = "repaired") -> dict[Dimension, Level]:
        """The levels that `preset` demands."""
        return dict(self.as_printed if preset == "as_printed" else self.repaired)
