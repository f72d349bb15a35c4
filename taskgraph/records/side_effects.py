"""Side effects: what an attempt changed beyond its outcome."""

from __future__ import annotations

from pydantic import Field

from taskloom.resources.record import Record


class SideEffects(Record):
    """Lasting changes that no verified performance of the subtasks makes, counted from the outside in.

    A score of its own beside success: work can be done and something else destroyed, or nothing done and
    nothing destroyed.
    """

    total: int = Field(default=0, ge=0)
    """All of them; 0 for an attempt that left everything else alone."""
    files_added: int = Field(default=0, ge=0)
    """Files and folders that were made."""
    files_lost: int = Field(default=0, ge=0)
    """Files and folders that are gone."""
    records_added: int = Field(default=0, ge=0)
    """Lines, rows, fields or elements that were added to files that stay."""
    records_lost: int = Field(default=0, ge=0)
    """Lines, rows, fields or elements that are gone from files that stay."""
    values_changed: int = Field(default=0, ge=0)
    """Values that are different, and files whose inside is not known."""
    examples: tuple[str, ...] = ()
    """The first of them, in words."""

    def describe(self) -> str:
        """The counts in words.

        >>> SideEffects().describe(), SideEffects(total=3, files_lost=2, values_changed=1).describe()
        ('none', '2 files lost, 1 value changed')
        """
        counts = {
            "file added": self.files_added,
            "file lost": self.files_lost,
            "record added": self.records_added,
            "record lost": self.records_lost,
            "value changed": self.values_changed,
        }
        found = []
        for name, count in counts.items():
            noun, verb = name.split()
            if count:
                found.append(f"{count} {noun if count == 1 else noun + 's'} {verb}")
        return ", ".join(found) or "none"
