"""The names of the sets, and of what they must not share."""

from typing import Final, Literal

SplitName = Literal["train", "validation", "test"]
SPLITS: Final[tuple[SplitName, ...]] = ("train", "validation", "test")
LeakKind = Literal["template", "value", "intent", "instruction"]
"""What two sets must not share: subtask templates, resource values, intents, instructions."""
LEAK_KINDS: Final[tuple[LeakKind, ...]] = ("template", "value", "intent", "instruction")
