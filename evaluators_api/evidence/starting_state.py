"""Whether an attempt starts with what its subtask needs; otherwise it is invalid, neither passed nor failed.
Evidence does not say which document is open in an application, so that is not checked."""

from collections.abc import Mapping, Sequence
from itertools import chain
from types import MappingProxyType

from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence


def missing_at_start(
    needed: Sequence[Resource], evidence: Evidence, fixtures: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, ...]:
    """Describe which of the `needed` resources `evidence` lacks; empty if the start is as it should be.

    An application that shows nothing is not running and counts as missing. A file that a reset should have
    written must have the hash in `fixtures` for its path.
    """
    problems = []
    if not any(control.application != "environment" for control in evidence.controls):
        problems.append("the application shows nothing")
    paths = paths_of(evidence)
    hashes = {file.path: file.sha256 for file in evidence.files}
    for resource in needed:
        name = described(resource)
        fixture_hash = fixtures.get(resource.value) if resource.kind is ResourceKind.FILE else None
        if fixture_hash and hashes.get(resource.value, fixture_hash) != fixture_hash:
            problems.append(f"{name} is another file than the fixture")
        if resource.kind is ResourceKind.FILE and resource.value not in paths:
            problems.append(f"{name} does not exist")
        elif resource.kind is ResourceKind.RECORD and not mentions(evidence, resource.value):
            problems.append(f"the application knows nothing of {name}")
        elif resource.kind is ResourceKind.CLIPBOARD and not holds(evidence.clipboard, resource.category):
            problems.append(f"the clipboard holds no {resource.category}")
    return tuple(problems)


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
