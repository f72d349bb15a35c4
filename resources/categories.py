"""Resource categories: the kinds of resources that flow between subtasks (App. B.3)."""

from enum import StrEnum

from taskloom.resources.record import Record


class ResourceKind(StrEnum):
    """How resources of a category exist, which decides where they are and whether a write replaces them."""

    FILE = "file"
    RECORD = "record"
    CLIPBOARD = "clipboard"
    OPEN_DOCUMENT = "open_document"
    SELECTION = "selection"
    TAB = "tab"
    SETTING = "setting"


TRANSIENT_KINDS = frozenset({ResourceKind.CLIPBOARD, ResourceKind.SELECTION})
"""Kinds that are a means and never an end: copied or selected content must be read to be of use."""


class ResourceCategory(Record):
    """One category such as `csv_path` or `text_in_clipboard`."""

    name: str
    """Name by which subtasks refer to the category; it is the default for a parameter of this name."""
    kind: ResourceKind
    """How resources of the category exist."""
    description: str
    """One sentence for people and models."""
    named: str = ""
    """Phrase for the first mention of a resource, with `{value}` for its value: "the wiki page {value}"."""
    again: str = ""
    """Phrase for later mentions: "the page"."""

    @property
    def is_slot(self) -> bool:
        """Whether a write replaces the previous value, so every reader needs a producer in the task;
        empty after a reset."""
        return self.kind not in (ResourceKind.FILE, ResourceKind.RECORD)

    @property
    def is_shared(self) -> bool:
        """Whether all applications share its resources; otherwise each belongs to one application."""
        return self.kind in (ResourceKind.FILE, ResourceKind.CLIPBOARD)
