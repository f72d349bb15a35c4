"""When an output resource of one subtask is an input resource of another (App. B.3)."""

from __future__ import annotations

from taskloom.resources.instances import Resource


def provides(output: Resource, needed: Resource) -> bool:
    """Whether `output` meets the need `needed`.

    Category, kind and application must agree. Values must be equal; a slot whose reader names no document
    accepts any document.

    >>> from taskloom.resources.categories import ResourceKind
    >>> a = Resource(category="csv_path", kind=ResourceKind.FILE, value="Documents/a.csv")
    >>> provides(a, a)
    True
    >>> provides(a, a.model_copy(update={"value": "Documents/b.csv"}))
    False
    """
    if (output.category, output.kind, output.application) != (
        needed.category,
        needed.kind,
        needed.application,
    ):
        return False
    if output.value == needed.value:
        return True
    return needed.slot is not None and needed.value == ""
