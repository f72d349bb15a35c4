"""Whether a performance read and wrote what its subtask declares, by which composition links subtasks.

Evidence cannot show which document is open in an application.
"""

from collections.abc import Iterator

from taskloom.environments.machines.sandbox import PERSONAL_FOLDERS
from taskloom.evaluators_api.evidence.starting_state import described, holds, mentions, paths_of
from taskloom.resources.categories import ResourceKind
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.trajectory import Trajectory

_PASTE = "ctrl+v"


def contradictions(instance: BoundSubtask, trajectory: Trajectory) -> list[str]:
    """How `trajectory` contradicts the declarations of `instance`, in words for the explorer."""
    states = trajectory.initial_evidence, trajectory.final_evidence
    return [*_inputs(instance, *states), *_outputs(instance, *states), *_undeclared(instance, trajectory)]


def _inputs(instance: BoundSubtask, before: Evidence, after: Evidence) -> Iterator[str]:
    for resource in instance.inputs:
        name = described(resource)
        if resource.kind is ResourceKind.FILE:
            if resource.value not in paths_of(before):
                yield f"declares to read {name}, which did not exist before"
            elif resource in instance.consumed and resource.value in paths_of(after):
                yield f"declares to consume {name}, which still exists afterwards"
            elif resource not in instance.consumed and resource.value not in paths_of(after):
                yield f"declares to read {name}, but it is gone afterwards: it is consumed"
        elif resource.kind is ResourceKind.RECORD and not mentions(before, resource.value):
            yield f"declares to read {name}, of which the application knew nothing before"
        elif resource.kind is ResourceKind.CLIPBOARD and not holds(before.clipboard, resource.category):
            yield f"declares to read {name}, but the clipboard did not hold that before"
        elif resource.kind is ResourceKind.CLIPBOARD and not _was_pasted(before, after):
            yield f"declares to read {name}, but what the clipboard held is in nothing that changed"


def _outputs(instance: BoundSubtask, before: Evidence, after: Evidence) -> Iterator[str]:
    old = {file.path: file.sha256 for file in before.files}
    new = {file.path: file.sha256 for file in after.files}
    for resource in instance.outputs:
        name = described(resource)
        if resource.kind is ResourceKind.FILE:
            if resource.value not in paths_of(after):
                yield f"declares to write {name}, which does not exist afterwards"
            elif resource.value in new and old.get(resource.value) == new[resource.value]:
                yield f"declares to write {name}, which was there before and did not change"
        elif resource.kind is ResourceKind.RECORD and not mentions(after, resource.value):
            yield f"declares to write {name}, of which the application knows nothing afterwards"
        elif resource.kind is ResourceKind.CLIPBOARD:
            if not holds(after.clipboard, resource.category):
                yield f"declares to write {name}, but the clipboard does not hold that afterwards"
            elif after.clipboard == before.clipboard:
                yield f"declares to write {name}, but the clipboard did not change"


def _undeclared(instance: BoundSubtask, trajectory: Trajectory) -> Iterator[str]:
    before, after = trajectory.initial_evidence, trajectory.final_evidence
    read = {item.value for item in instance.inputs if item.kind is ResourceKind.FILE}
    written = {item.value for item in instance.outputs if item.kind is ResourceKind.FILE}
    old, new = paths_of(before), paths_of(after)
    for path in sorted(_personal_paths(new - old) - written):
        if not any(path.startswith(f"{other}/") or other.startswith(f"{path}/") for other in written):
            yield f"writes {path!r} without declaring it"
    for path in sorted(_personal_paths(old - new) - read):
        if not any(path.startswith(f"{other}/") for other in read):
            yield f"removes {path!r} without declaring it as a consumed input"
    for name, value in sorted(instance.parameters.items()):
        if value in _personal_paths({file.path for file in before.files}) and value not in read | written:
            yield f"its parameter {name} names the existing file {value!r}, which it does not declare"
    declared = {item.kind for item in instance.outputs}
    if after.clipboard != before.clipboard and ResourceKind.CLIPBOARD not in declared:
        yield "changes the clipboard without declaring it as an output"
    if _pastes_initial(trajectory) and ResourceKind.CLIPBOARD not in {item.kind for item in instance.inputs}:
        yield "pastes what was in the clipboard before without declaring it as an input"


def _pastes_initial(trajectory: Trajectory) -> bool:
    """Whether something is pasted with keys while the clipboard holds what it held at the start."""
    before = trajectory.initial_evidence
    initial = before.clipboard
    for step in trajectory.steps:
        pressed = {event.text for event in step.evidence.inputs[len(before.inputs) :] if event.kind == "key"}
        if _PASTE in pressed:
            return before.clipboard == initial != ClipboardState()
        before = step.evidence
    return False


def _was_pasted(before: Evidence, after: Evidence) -> bool:
    """Whether the clipboard's text is on the screen or in a changed file, or a changed file has no text.

    Its longest word stands for the text, which may be laid out differently where it was pasted.
    """
    word = max((before.clipboard.text or "").casefold().split(), key=len, default="")
    if not word:
        return True
    old = {file.path: file.sha256 for file in before.files}
    changed = [file for file in after.files if old.get(file.path) != file.sha256]
    return any(
        file.text is None or file.content == "picture" or word in file.text.casefold() for file in changed
    ) or any(word in f"{control.text} {control.value}".casefold() for control in after.controls)


def _personal_paths(paths: set[str]) -> set[str]:
    """Those of `paths` in the folders that the environment gives to people; applications use others."""
    return {path for path in paths if path.split("/", 1)[0] in PERSONAL_FOLDERS}
