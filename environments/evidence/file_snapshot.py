"""The files of a sandbox home as evidence; a file that did not change is not read again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from taskloom.environments.evidence.archive_listing import list_members
from taskloom.environments.evidence.sqlite_text import is_database, render_database
from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.resources.applications import OpenDocument
from taskloom.taskgraph.records.evidence import OPEN_DOCUMENT, FileState

TEXT_LIMIT = 64 * 1024
"""Bytes of text kept per file."""

_LEFT_OUT = frozenset({".git", "node_modules", "__pycache__", ".cache", ".ipynb_checkpoints"})
_COMPANIONS = ("-wal", "-shm", "-journal")
_MOST_FILES = 3000
_HOME_SHOWN_AS = "~"

_Stamp = tuple[int, int, int]


@dataclass(slots=True)
class FileSnapshots:
    """Takes snapshots of one home, remembering what it read."""

    home: Path
    """The sandbox home."""
    left_out: frozenset[str] = frozenset()
    """Entries of the home itself that are no evidence, such as a folder of installed programs."""
    elsewhere: Mapping[str, Path] = field(default_factory=dict)
    """Data folders outside of the home by application; shown as if they were the state folders of these."""
    _known: dict[str, tuple[tuple[_Stamp, ...], FileState]] = field(default_factory=dict)

    def take(self) -> tuple[tuple[FileState, ...], tuple[str, ...]]:
        """All files and directories under the home, by path; blocks while changed files are read.

        Leaves out hidden entries of the home itself, except the folder with the applications' states, as well
        as version control stores and caches anywhere. In texts, the path of the home is replaced by `~`,
        because it differs between environments.
        """
        states: list[FileState] = []
        directories: list[str] = []
        seen: dict[str, tuple[tuple[_Stamp, ...], FileState]] = {}
        pending = [("", self.home)]
        for application, place in self.elsewhere.items():
            directories.append(f"{APPLICATIONS_FOLDER}/{application}")
            pending.append((directories[-1], place))
        while pending and len(states) < _MOST_FILES:
            folder, place = pending.pop()
            for entry in _entries(place):
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.name in _LEFT_OUT or (not folder and self._is_apart(entry.name)):
                    continue
                try:
                    if entry.is_dir(follow_symlinks=False):
                        directories.append(path)
                        pending.append((path, Path(entry.path)))
                    elif entry.is_file(follow_symlinks=False) and not entry.name.endswith(_COMPANIONS):
                        seen[path] = self._state(path, entry)
                        states.append(seen[path][1])
                except OSError:
                    continue
        self._known = seen
        return tuple(sorted(states, key=lambda state: state.path)), tuple(sorted(set(directories)))

    def document(self, application: str, form: OpenDocument, text: str) -> FileState:
        """The document open in an application, as if it were a file of it."""
        path = f"{APPLICATIONS_FOLDER}/{application}/{OPEN_DOCUMENT}{form.ending}"
        content = text.encode()
        shown = self._shown(content[:TEXT_LIMIT].decode(errors="ignore"))
        return FileState(
            path=path,
            size=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
            text=shown[:TEXT_LIMIT],
            truncated=len(content) > TEXT_LIMIT,
        )

    def _shown(self, text: str) -> str:
        """A text with `~` for the home."""
        for application, place in self.elsewhere.items():
            text = text.replace(str(place), f"{_HOME_SHOWN_AS}/{APPLICATIONS_FOLDER}/{application}")
        return text.replace(str(self.home), _HOME_SHOWN_AS)

    def _is_apart(self, name: str) -> bool:
        return name in self.left_out or (name[0] == "." and name != APPLICATIONS_FOLDER)

    def _state(self, path: str, entry: os.DirEntry[str]) -> tuple[tuple[_Stamp, ...], FileState]:
        stamps = tuple(_stamps(Path(entry.path)))
        known = self._known.get(path)
        if known is not None and known[0] == stamps:
            return known
        return stamps, self._read(path, Path(entry.path))

    def _read(self, path: str, file: Path) -> FileState:
        content = file.read_bytes()
        sha256 = hashlib.sha256(content).hexdigest()
        text: str | None
        if is_database(content):
            rendered = render_database(file, TEXT_LIMIT)
            text = None if rendered is None else rendered.text
            truncated = rendered is not None and not rendered.complete
        elif (listing := list_members(content)) is not None:
            text, truncated = listing, len(listing) > TEXT_LIMIT
        else:
            text = _as_text(content[: TEXT_LIMIT + 4])
            truncated = text is not None and len(content) > TEXT_LIMIT
        if text is not None:
            text = self._shown(text)[:TEXT_LIMIT]
        return FileState(path=path, size=len(content), sha256=sha256, text=text, truncated=truncated)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _stamps(file: Path) -> list[_Stamp]:
    """What changes when a file, or the log beside a database, changes."""
    stamps = []
    for path in (file, file.with_name(file.name + "-wal")):
        try:
            status = path.stat()
        except OSError:
            continue
        stamps.append((status.st_mtime_ns, status.st_size, status.st_ino))
    return stamps


def _as_text(content: bytes) -> str | None:
    if b"\0" in content:
        return None
    for cut in range(4):
        try:
            return content[: len(content) - cut].decode()
        except UnicodeDecodeError as error:
            if error.end < len(content) - cut:
                return None
    return None
