"""The names of the sets."""

from __future__ import annotations

from typing import Final, Literal

SplitName = Literal["train", "validation", "test"]
"""A set."""
SPLITS: Final[tuple[SplitName, ...]] = ("train", "validation", "test")
"""The sets, in order."""
