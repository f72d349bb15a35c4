"""The names of the sets, and of what they must not share."""

from typing import Final, Literal

SplitName = Literal["train", "validation", "test"]
"""A set."""
SPLITS: Final[tuple[SplitName, ...]] = ("train", "validation", "test")
"""The sets, in order."""
LeakKind = Literal["template", "value", "intent", "instruction"]
"""What two sets must not share: subtask templates, resource values, intents, instructions."""
LEAK_KINDS: Final[tuple[LeakKind, ...]] = ("template", "value", "intent", "instruction")
"""All kinds of shared things that count as a leak."""
