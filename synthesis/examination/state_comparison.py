"""Whether two pieces of evidence show the same state, as far as checks of state can tell.

Applications write more than their user asked for: logs, locks, times of last visit. Such noise must not make a finished
subtask look unfinished, so texts are compared after their volatile parts are taken out; numbers that belong to the
subtask's parameters stay.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from taskgraph.records.evidence import Evidence, FileState
from taskgraph.text_folding import fold_text

_VOLATILE_SUFFIXES = frozenset(
    [
        ".crdownload",
        ".db-journal",
        ".db-shm",
        ".db-wal",
        ".journal",
        ".lock",
        ".log",
        ".part",
        ".pid",
        ".pyc",
        ".shm",
        ".sock",
        ".swp",
        ".tmp",
        ".wal",
    ]
)
_VOLATILE_FOLDERS = frozenset(
    ["__pycache__", ".cache", "cache", "caches", "crash", "log", "logs", "sessions", "tmp"]
)
_VARIABLE = re.compile(r"\b[0-9a-f]{12,}\b|\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\d+")
_SHOWN_DIFFERENCES = 6
_LONGEST_NAME = 80

State = frozenset[tuple[str, ...]]
"""Facts that hold in a state."""


def lasting_state(evidence: Evidence, parameters: Mapping[str, str]) -> State:
    """What would still be there after the screen is closed: files with their content, directories, the clipboard."""
    numbers = frozenset(number for value in parameters.values() for number in re.findall(r"\d+", value))
    files = {
        ("file", file.path, _content(file, numbers)) for file in evidence.files if not is_volatile(file.path)
    }
    directories = {("directory", path) for path in evidence.directories if not is_volatile(f"{path}/x")}
    held = evidence.clipboard
    clipboard = {
        ("clipboard", kind, value)
        for kind, value in (("text", held.text), ("image", held.image_sha256), ("file", held.file_name))
        if value is not None
    }
    return frozenset(files | directories | clipboard)


def screen_state(evidence: Evidence, parameters: Mapping[str, str]) -> State:
    """What the last screen shows: texts, contents and states of controls, title and address."""
    numbers = frozenset(number for value in parameters.values() for number in re.findall(r"\d+", value))
    controls = {
        (
            "control",
            control.control_type,
            _steady(control.text, numbers),
            _steady(control.value, numbers),
            str(control.checked),
        )
        for control in evidence.controls
    }
    return frozenset(
        controls
        | {
            ("title", _steady(evidence.window_title, numbers)),
            ("address", evidence.url),
            ("front", evidence.active_application),
        }
    )


def is_volatile(path: str) -> bool:
    """Whether a file is one that applications write for themselves and that says nothing about a subtask.

    >>> is_volatile("state/app.db-wal"), is_volatile("state/logs/a.txt"), is_volatile("Documents/a.txt")
    (True, True, False)
    """
    location = PurePosixPath(path.casefold())
    return bool(_VOLATILE_SUFFIXES & set(location.suffixes[-1:])) or bool(
        _VOLATILE_FOLDERS & set(location.parts[:-1])
    )


def describe_changes(before: Evidence, after: Evidence, parameters: Mapping[str, str]) -> str:
    """What differs between two states, in a few words for the writer of an evaluation function."""
    old, new = lasting_state(before, parameters), lasting_state(after, parameters)
    old_files = {fact[1] for fact in old if fact[0] == "file"}
    new_files = {fact[1] for fact in new if fact[0] == "file"}
    changed = {fact[1] for fact in new - old if fact[0] == "file"} & old_files
    found = [
        *(f"the file {path} is made" for path in sorted(new_files - old_files)),
        *(f"the file {path} is removed" for path in sorted(old_files - new_files)),
        *(f"the content of {path} changes" for path in sorted(changed)),
        *(f"the folder {fact[1]} is made" for fact in sorted(new - old) if fact[0] == "directory"),
        *(f"the folder {fact[1]} is removed" for fact in sorted(old - new) if fact[0] == "directory"),
        *("the clipboard changes" for fact in sorted(new - old)[:1] if fact[0] == "clipboard"),
    ]
    if not found:
        seen = {text for control in before.controls for text in (control.text, control.value)}
        shown = (text for control in after.controls for text in (control.text, control.value))
        texts = [text for text in dict.fromkeys(shown) if text.strip() and text not in seen]
        found = [f"the screen shows {text[:_LONGEST_NAME]!r}" for text in texts]
        if before.window_title != after.window_title:
            found.append(f"the title becomes {after.window_title[:_LONGEST_NAME]!r}")
    more = len(found) - _SHOWN_DIFFERENCES
    return "; ".join(found[:_SHOWN_DIFFERENCES]) + (f"; and {more} more" if more > 0 else "")


def _content(file: FileState, numbers: Collection[str]) -> str:
    if file.text is None:
        return file.sha256
    return _steady_text(file.text, frozenset(numbers))


@lru_cache(maxsize=512)
def _steady_text(text: str, numbers: frozenset[str]) -> str:
    return _steady(text, numbers)


def _steady(text: str, numbers: Collection[str]) -> str:
    """The folded text without numbers and hashes that are none of the subtask's."""
    return _VARIABLE.sub(lambda match: match.group() if match.group() in numbers else "#", fold_text(text))
