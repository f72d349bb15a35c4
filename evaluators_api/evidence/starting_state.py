"""Whether an attempt starts with what its subtask needs; else it is invalid, neither passed nor failed. Which
document is open in an application is not asked for: evidence does not tell."""

from collections.abc import Mapping, Sequence
from itertools import chain
from types import MappingProxyType

from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence


def missing_at_start(
    needed: Sequence[Resource], evidence: Evidence, fixtures: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, ...]:
    """Which of the resources `needed` are not there in `evidence`, as phrases; empty when the start is what
    it should be.

    An application that shows nothing at all is not running, so nothing can be done with it. A file that a
    reset should have written must have the hash that `fixtures` gives for its path.
    """
    found = []
    if not any(control.application != "environment" for control in evidence.controls):
        found.append("the application shows nothing")
    paths = paths_of(evidence)
    hashes = {file.path: file.sha256 for file in evidence.files}
    for resource in needed:
        name = described(resource)
        wanted = fixtures.get(resource.value) if resource.kind is ResourceKind.FILE else None
        if wanted and hashes.get(resource.value, wanted) != wanted:
            found.append(f"{name} is another file than the fixture")
        if resource.kind is ResourceKind.FILE and resource.value not in paths:
            found.append(f"{name} does not exist")
        elif resource.kind is ResourceKind.RECORD and not mentions(evidence, resource.value):
            found.append(f"the application knows nothing of {name}")
        elif resource.kind is ResourceKind.CLIPBOARD and not holds(evidence.clipboard, resource.category):
            found.append(f"the clipboard holds no {resource.category}")
    return tuple(found)


def described(resource: Resource) -> str:
    """A resource by its category and value."""
    return f"{resource.category} {resource.value!r}" if resource.value else resource.category


def holds(clipboard: ClipboardState, category: str) -> bool:
    """Whether the clipboard holds something of a category."""
    if category.startswith("image"):
        return clipboard.image_sha256 is not None
    if category.startswith("file"):
        return clipboard.file_name is not None
    return bool(clipboard.text) or clipboard.image_sha256 is not None or clipboard.file_name is not None


def mentions(evidence: Evidence, value: str) -> bool:
    """Whether any state or control mentions `value`."""
    shown = (text for control in evidence.controls for text in (control.text, control.value))
    held = (text for file in evidence.files for text in (file.path, file.text or ""))
    texts = chain(shown, (evidence.window_title,), held)
    return any(value.casefold() in text.casefold() for text in texts)


def paths_of(evidence: Evidence) -> set[str]:
    """Paths of all files and directories."""
    return {file.path for file in evidence.files} | set(evidence.directories)
