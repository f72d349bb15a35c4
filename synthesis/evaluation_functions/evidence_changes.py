"""The difference between two pieces of evidence, as models are shown it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from prompts.observed_changes import FileChange, ObservedChange
from taskgraph.records.evidence import Evidence, FileState
from taskgraph.records.interaction import Control

_LONGEST_LINE = 240
_MOST_LINES = 40
_MOST_FILES = 40
_MOST_TEXTS = 60
_SHORTEST_COPY = 3


def observed_change(before: Evidence, after: Evidence) -> ObservedChange:
    """What is different in `after`, with the inputs made since `before`; long texts and lists are cut."""
    old, new = {item.path: item for item in before.files}, {item.path: item for item in after.files}
    created = [path for path in new if path not in old]
    changed = [path for path in new if path in old and new[path].sha256 != old[path].sha256]
    texts = (_file_change(old.get(path), new[path]) for path in (*created, *changed))
    inputs = after.inputs[len(before.inputs) :]
    shown, shown_before = _texts(after.controls), _texts(before.controls)
    return ObservedChange(
        created_files=tuple(created[:_MOST_FILES]),
        deleted_files=tuple(path for path in old if path not in new)[:_MOST_FILES],
        changed_files=tuple(changed[:_MOST_FILES]),
        texts=tuple(item for item in texts if item.added_lines or item.removed_lines)[:_MOST_FILES],
        created_directories=_missing_in(after.directories, before.directories),
        deleted_directories=_missing_in(before.directories, after.directories),
        clipboard_text=_if_new(before.clipboard.text, after.clipboard.text),
        clipboard_image=after.clipboard.image_sha256 is not None
        and after.clipboard.image_sha256 != before.clipboard.image_sha256,
        clipboard_file=_if_new(before.clipboard.file_name, after.clipboard.file_name),
        clipboard_text_in=_holding(after.clipboard.text, after.files),
        window_title=_if_new(before.window_title, after.window_title),
        appeared_texts=_missing_in(shown, shown_before),
        vanished_texts=_missing_in(shown_before, shown),
        clicked=_unique(
            event.control.text for event in inputs if event.kind == "click" and event.control is not None
        ),
        typed=_unique(event.text for event in inputs if event.kind == "text"),
        keys=_unique(event.text for event in inputs if event.kind == "key"),
    )


def _holding(text: str | None, files: Sequence[FileState]) -> tuple[str, ...]:
    wanted = (text or "").strip()
    if len(wanted) < _SHORTEST_COPY:
        return ()
    return tuple(file.path for file in files if file.text is not None and wanted in file.text)[:_MOST_FILES]


def _file_change(old: FileState | None, new: FileState) -> FileChange:
    before = _lines(old)
    after = _lines(new)
    if not before:
        return FileChange(path=new.path, added_lines=tuple(after[:_MOST_LINES]))
    added = _more_in(after, before)
    removed = _more_in(before, after)
    return FileChange(
        path=new.path, added_lines=tuple(added[:_MOST_LINES]), removed_lines=tuple(removed[:_MOST_LINES])
    )


def _more_in(these: Sequence[str], those: Sequence[str]) -> list[str]:
    """Lines that occur more often in `these`, in their order; lines that only moved are no change."""
    left = Counter(those)
    more = []
    for line in these:
        if left[line]:
            left[line] -= 1
        else:
            more.append(line)
    return more


def _lines(file: FileState | None) -> list[str]:
    if file is None or file.text is None:
        return []
    return [line[:_LONGEST_LINE] for line in file.text.splitlines() if line.strip()]


def _texts(controls: Sequence[Control]) -> tuple[str, ...]:
    """Texts and contents on the page itself; those of the environment's own controls say nothing about the task."""
    own = [control for control in controls if control.application != "environment"]
    return _unique(text for control in own for text in (control.text, control.value))


def _missing_in(these: Iterable[str], those: Iterable[str]) -> tuple[str, ...]:
    known = set(those)
    return tuple(item for item in these if item not in known)[:_MOST_TEXTS]


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text.strip()))


def _if_new(before: str | None, after: str | None) -> str | None:
    return after if after and after != before else None
