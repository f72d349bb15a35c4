"""Resources: a category bound to a value, and where it is (App. B.3); which outputs meet which inputs."""

from taskloom.resources.categories import TRANSIENT_KINDS, ResourceCategory, ResourceKind
from taskloom.resources.record import Record


class Resource(Record):
    """One thing that exists in an environment while a task runs.

    Two resources are the same thing if and only if all four fields are equal.
    """

    category: str
    """Name of the resource category."""
    kind: ResourceKind
    """Kind of the category, repeated here so that graph mathematics needs no catalogue."""
    application: str = ""
    """Application that the resource belongs to; empty for files and the clipboard."""
    value: str = ""
    """Path, name or number; for a slot, the document it belongs to, or empty if that does not matter."""

    @property
    def slot(self) -> tuple[str, str] | None:
        """The slot the resource occupies as (kind, application), or None for files and records."""
        if self.kind in (ResourceKind.FILE, ResourceKind.RECORD):
            return None
        return (self.kind.value, self.application)

    @property
    def is_transient(self) -> bool:
        """Whether it is a means and never an end, such as the clipboard's content."""
        return self.kind in TRANSIENT_KINDS


def bind_resource(category: ResourceCategory, application: str, value: str) -> Resource:
    """The resource of `category` with `value`, as seen by a subtask of `application`."""
    owner = "" if category.is_shared else application
    return Resource(category=category.name, kind=category.kind, application=owner, value=value)


def guessed_kind(category: str) -> ResourceKind | None:
    """The kind that the suffix of a category's name implies, for categories that no catalogue defines.

    The names of the paper and of the catalogue follow these suffixes.

    >>> guessed_kind("xlsx_path"), guessed_kind("table_in_clipboard"), guessed_kind("colour")
    (<ResourceKind.FILE: 'file'>, <ResourceKind.CLIPBOARD: 'clipboard'>, None)
    """
    suffixes = {
        "_in_clipboard": ResourceKind.CLIPBOARD,
        "_in_processing": ResourceKind.OPEN_DOCUMENT,
        "_path": ResourceKind.FILE,
    }
    return next((kind for suffix, kind in suffixes.items() if category.endswith(suffix)), None)


def provides(output: Resource, needed: Resource) -> bool:
    """Whether `output` is what `needed` asks for.

    Category, kind and application must agree. Values must be equal; a slot whose reader names no document
    accepts any document.

    >>> from taskloom.resources.categories import ResourceKind
    >>> a = Resource(category="csv_path", kind=ResourceKind.FILE, value="Documents/a.csv")
    >>> provides(a, a)
    True
    >>> provides(a, a.model_copy(update={"value": "Documents/b.csv"}))
    False
    """
    accepts_any = needed.slot is not None and needed.value == ""
    return needed == (output.model_copy(update={"value": ""}) if accepts_any else output)
