"""Resource categories: what kinds of things flow between subtasks (App. B.3)."""

from enum import StrEnum

from taskloom.resources.record import Record


class ResourceKind(StrEnum):
    """How resources of a category exist, which decides where they live and whether a write destroys."""

    FILE = "file"
    RECORD = "record"
    CLIPBOARD = "clipboard"
    OPEN_DOCUMENT = "open_document"
    SELECTION = "selection"
    TAB = "tab"
    SETTING = "setting"


TRANSIENT_KINDS = frozenset({ResourceKind.CLIPBOARD, ResourceKind.SELECTION})
"""Kinds that are a means and never an end: what was copied or selected is worth nothing until something reads
it."""


class ResourceCategory(Record):
    """One category such as `csv_path` or `text_in_clipboard`."""

    name: str
    """Name by which subtasks refer to the category; a parameter of this name has it by default."""
    kind: ResourceKind
    """How resources of the category exist."""
    description: str
    """One sentence for people and models."""
    named: str = ""
    """How a resource of it is spoken of at first, `{value}` standing for its value: "the wiki page
    {value}"."""
    again: str = ""
    """How it is spoken of afterwards: "the page"."""

    @property
    def is_slot(self) -> bool:
        """Whether a write replaces what was there, so that every reader needs a producer in the task; empty
        after a reset."""
        return self.kind not in (ResourceKind.FILE, ResourceKind.RECORD)

    @property
    def is_shared(self) -> bool:
        """Whether all applications share its resources; those of the others live in one application each."""
        return self.kind in (ResourceKind.FILE, ResourceKind.CLIPBOARD)
