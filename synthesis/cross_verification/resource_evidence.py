"""Whether what a subtask declares to read and write is what its performance really read and wrote.

Composition links subtasks by their declarations alone, so a wrong declaration would make tasks that cannot be done.
What evidence cannot show (which document is open in an application) is left to the independent declarations of
exploration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from resources.categories import ResourceKind
from resources.instances import Resource
from taskgraph.records.evidence import ClipboardState, Evidence
from taskgraph.records.subtask import BoundSubtask
from taskgraph.records.trajectory import Trajectory

_COPIES = re.compile(r"\b(cut|copy)\b", re.IGNORECASE)

USER_FOLDERS = ("Desktop", "Documents", "Downloads", "Music", "Pictures", "Videos")
"""Folders of the sandbox home whose files belong to the user; elsewhere applications keep their state."""


def contradictions(instance: BoundSubtask, trajectory: Trajectory) -> list[str]:
    """What the performance `trajectory` shows against the declarations of `instance`, in words for the explorer."""
    before, after = trajectory.initial_evidence, trajectory.final_evidence
    return [
        *_inputs(instance, before, after),
        *_outputs(instance, before, after),
        *_undeclared(instance, before, after),
    ]


def _inputs(instance: BoundSubtask, before: Evidence, after: Evidence) -> Iterator[str]:
    for resource in instance.inputs:
        name = _name(resource)
        if resource.kind is ResourceKind.FILE:
            if resource.value not in _paths(before):
                yield f"declares to read {name}, which did not exist before"
            elif resource in instance.consumed and resource.value in _paths(after):
                yield f"declares to consume {name}, which still exists afterwards"
            elif resource not in instance.consumed and resource.value not in _paths(after):
                yield f"declares to read {name}, but it is gone afterwards: it is consumed"
        elif resource.kind is ResourceKind.RECORD and not _mentions(before, resource.value):
            yield f"declares to read {name}, of which the application knew nothing before"
        elif resource.kind is ResourceKind.CLIPBOARD and not _holds(before.clipboard, resource.category):
            yield f"declares to read {name}, but the clipboard did not hold that before"


def _outputs(instance: BoundSubtask, before: Evidence, after: Evidence) -> Iterator[str]:
    old = {file.path: file.sha256 for file in before.files}
    new = {file.path: file.sha256 for file in after.files}
    for resource in instance.outputs:
        name = _name(resource)
        if resource.kind is ResourceKind.FILE:
            if resource.value not in _paths(after):
                yield f"declares to write {name}, which does not exist afterwards"
            elif resource.value in new and old.get(resource.value) == new[resource.value]:
                yield f"declares to write {name}, which was there before and did not change"
        elif resource.kind is ResourceKind.RECORD and not _mentions(after, resource.value):
            yield f"declares to write {name}, of which the application knows nothing afterwards"
        elif resource.kind is ResourceKind.CLIPBOARD:
            if not _holds(after.clipboard, resource.category):
                yield f"declares to write {name}, but the clipboard does not hold that afterwards"
            elif after.clipboard == before.clipboard:
                yield f"declares to write {name}, but the clipboard did not change"


def _undeclared(instance: BoundSubtask, before: Evidence, after: Evidence) -> Iterator[str]:
    read = {item.value for item in instance.inputs if item.kind is ResourceKind.FILE}
    written = {item.value for item in instance.outputs if item.kind is ResourceKind.FILE}
    old, new = _paths(before), _paths(after)
    for path in sorted(_of_user(new - old) - written):
        if not any(path.startswith(f"{other}/") or other.startswith(f"{path}/") for other in written):
            yield f"writes {path!r} without declaring it"
    for path in sorted(_of_user(old - new) - read):
        if not any(path.startswith(f"{other}/") for other in read):
            yield f"removes {path!r} without declaring it as a consumed input"
    for name, value in sorted(instance.parameters.items()):
        if value in _of_user({file.path for file in before.files}) and value not in read | written:
            yield f"its parameter {name} names the existing file {value!r}, which it does not declare"
    declared = {item.kind for item in instance.outputs}
    if after.clipboard != before.clipboard and ResourceKind.CLIPBOARD not in declared:
        yield "changes the clipboard without declaring it as an output"
    if _pastes_foreign(after) and ResourceKind.CLIPBOARD not in {item.kind for item in instance.inputs}:
        yield "pastes what was in the clipboard before without declaring it as an input"


def _pastes_foreign(evidence: Evidence) -> bool:
    """Whether something is pasted that was not cut or copied before, by keys or by a control that says so."""
    for event in evidence.inputs:
        if event.kind == "key" and event.text in ("ctrl+c", "ctrl+x"):
            return False
        if event.kind == "click" and event.control and _COPIES.search(event.control.text):
            return False
        if event.kind == "key" and event.text == "ctrl+v":
            return True
    return False


def _holds(clipboard: ClipboardState, category: str) -> bool:
    if category.startswith("image"):
        return clipboard.image_sha256 is not None
    if category.startswith("file"):
        return clipboard.file_name is not None
    return bool(clipboard.text) or clipboard.image_sha256 is not None or clipboard.file_name is not None


def _mentions(evidence: Evidence, value: str) -> bool:
    """Whether some state or control speaks of `value`."""
    wanted = value.casefold()
    texts: Iterable[str] = (
        *(control.text for control in evidence.controls),
        *(control.value for control in evidence.controls),
        evidence.window_title,
        *(file.path for file in evidence.files),
        *(file.text for file in evidence.files if file.text is not None),
    )
    return any(wanted in text.casefold() for text in texts)


def _paths(evidence: Evidence) -> set[str]:
    return {file.path for file in evidence.files} | set(evidence.directories)


def _of_user(paths: set[str]) -> set[str]:
    return {path for path in paths if path.partition("/")[0] in USER_FOLDERS}


def _name(resource: Resource) -> str:
    return f"{resource.category} {resource.value!r}" if resource.value else resource.category
