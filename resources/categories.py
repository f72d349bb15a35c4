"""Resource categories: what kinds of things flow between subtasks (App. B.3)."""

from enum import StrEnum

from taskloom.resources.record import Record


class ResourceKind(StrEnum):
    """How resources of a category exist, which decides their scope and whether a write destroys."""

    FILE = "file"
    RECORD = "record"
    CLIPBOARD = "clipboard"
    OPEN_DOCUMENT = "open_document"
    SELECTION = "selection"
    TAB = "tab"
    SETTING = "setting"


class ResourceScope(StrEnum):
    """How many resources of a category can exist side by side."""

    BY_VALUE = "by_value"
    """Many in one environment, told apart by value (files)."""
    BY_VALUE_PER_APPLICATION = "by_value_per_application"
    """Many in one application, told apart by value (records)."""
    SLOT_PER_ENVIRONMENT = "slot_per_environment"
    """One slot shared by all categories of the kind (the clipboard)."""
    SLOT_PER_APPLICATION = "slot_per_application"
    """One slot for each application and kind (open document, selection, tab, setting)."""


_SCOPES = {
    ResourceKind.FILE: ResourceScope.BY_VALUE,
    ResourceKind.RECORD: ResourceScope.BY_VALUE_PER_APPLICATION,
    ResourceKind.CLIPBOARD: ResourceScope.SLOT_PER_ENVIRONMENT,
}


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
    def scope(self) -> ResourceScope:
        """The scope that follows from the kind."""
        return _SCOPES.get(self.kind, ResourceScope.SLOT_PER_APPLICATION)

    @property
    def is_slot(self) -> bool:
        """Whether a write replaces what was there, so that every reader needs a producer in the task."""
        return self.scope in (ResourceScope.SLOT_PER_ENVIRONMENT, ResourceScope.SLOT_PER_APPLICATION)

    @property
    def may_exist_at_reset(self) -> bool:
        """Whether a fixture can provide it; slots are empty after a reset."""
        return not self.is_slot
