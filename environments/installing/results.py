"""What became of an installation."""

from __future__ import annotations

from typing import Literal

from taskloom.resources.record import Record


class InstallationResult(Record):
    """What became of installing one application."""

    application: str
    """Name of the application."""
    outcome: Literal["installed", "skipped", "failed"]
    """`skipped` means that it was there already."""
    reason: str = ""
    """Why it failed."""
    seconds: float = 0.0
    """How long it took, waiting for the lock left out."""
    size_bytes: int = 0
    """Disk space of its place."""

    def in_words(self) -> str:
        """The result as a line of progress."""
        words = f"{self.application}: {self.outcome}"
        if self.outcome == "installed":
            words += f" in {self.seconds:.0f} s, {self.size_bytes / 1e6:.0f} MB"
        return f"{words}: {self.reason}" if self.reason else words
