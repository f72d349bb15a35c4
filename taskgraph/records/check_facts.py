"""What is known of a check where it is not asked itself, such as in an export that others judge by."""

from __future__ import annotations

from typing import Literal

from taskloom.resources.record import Record

Reads = Literal["inputs", "screen", "files", "clipboard"]
"""Part of the evidence that a check reads; `inputs` is the route taken, the rest is state."""


class CheckFacts(Record):
    """What a check's declaration says of it."""

    reads: Reads
    """Part of the evidence it reads."""
    of_source: bool = False
    """Whether it compares with what a source held at the start."""
    verdict: bool = True
    """Whether it answers yes or no, rather than with a value."""

    @property
    def momentary(self) -> bool:
        """Whether it judges what the screen shows or the clipboard holds, which later work changes."""
        return self.verdict and self.reads in ("screen", "clipboard")
