"""The files of a sandbox home as evidence; a file that did not change is not read again."""

import codecs
import hashlib
import io
import itertools
import os
import tarfile
import zipfile
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from taskloom.environments.evidence.application_files import is_database, render_database
from taskloom.environments.evidence.unpacked_text import DAMAGED, IN_PIECES, render_document, unpacked_text
from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.taskgraph.records.evidence import ARCHIVE_HEADER, FileState
from taskloom.taskgraph.text_folding import composed

TEXT_LIMIT = 64 * 1024
"""Bytes of text kept per file."""
MOST_FILES = 3000
"""Files of a home that are kept; a folder that would exceed this is reported as unseen."""

_LOG_ENDINGS = ("-wal", "-shm", "-journal")
"""What SQLite appends to the name of a database for the files that accompany it."""
_LARGEST_READ = 64 * 1024 * 1024
"""Maximum bytes of a file read into memory."""
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HOME_PLACEHOLDER = "~"

_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class HomeFiles:
    """The files of a home at one time."""

    files: tuple[FileState, ...]
    """Files by path."""
    directories: tuple[str, ...]
    """Directories, sorted."""
    unseen: tuple[str, ...]
    """Paths whose content is unknown, sorted."""


@dataclass(slots=True)
class FileSnapshots:
    """Takes snapshots of one home; unchanged files are not read again."""

    home: Path
    left_out: frozenset[str] = frozenset()
    """Paths in the home that are not evidence, such as a folder of installed programs."""
    outside_folders: Mapping[str, Path] = field(default_factory=dict)
    """Data folders outside of the home, by application; shown as the state folders of the applications."""
    shown_home: str = ""
    """Path of the home as it occurs in texts; empty for its own path."""
    _known: dict[str, tuple[tuple[_Stamp, ...], FileState]] = field(default_factory=dict)

    def take(self) -> HomeFiles:
        """All files and directories under the home; blocks while changed files are read.

        Folders are read level by level, so past the limit the deepest files are left out; their folders are
        reported as unseen. In texts, `~` stands for the home, whose path differs between environments.
        """
        seen: dict[str, tuple[tuple[_Stamp, ...], FileState]] = {}
        outside = {f"{APPLICATIONS_FOLDER}/{name}": place for name, place in self.outside_folders.items()}
        directories, unseen = set(outside), set[str]()
        pending = deque([("", self.home), *outside.items()])
        while pending:
            folder, place = pending.popleft()
            entries = _entries(place)
            if entries is None or len(seen) + len(entries) > MOST_FILES:
                unseen.add(folder)
                continue
            for entry in entries:
                name = composed(os.fsencode(entry.name).decode(errors="replace"))
                path = f"{folder}/{name}" if folder else name
                if path in self.left_out or path in outside:
                    continue
                if path in unseen or path in seen or path in directories:
                    seen.pop(path, None)
                    unseen.add(path)  # two names that look the same cannot be distinguished
                elif entry.is_dir(follow_symlinks=False):
                    directories.add(path)
                    pending.append((path, Path(entry.path)))
                else:
                    try:
                        seen[path] = self._state(path, entry)
                    except FileNotFoundError:
                        continue  # removed since the folder was listed
                    except OSError:
                        unseen.add(path)
        self._known = seen
        files = (state for _, state in seen.values())
        return HomeFiles(
            tuple(sorted(files, key=lambda state: state.path)),
            tuple(sorted(directories)),
            tuple(sorted(unseen)),
        )

    def reported_states(
        self, texts: Mapping[tuple[str, str], str | None]
    ) -> tuple[tuple[FileState, ...], tuple[str, ...]]:
        """The states that applications report, as files; and the paths of those without a text."""
        by_path = {f"{APPLICATIONS_FOLDER}/{name}/{file}": text for (name, file), text in texts.items()}
        return (
            tuple(self._text_file(path, text) for path, text in by_path.items() if text is not None),
            tuple(path for path, text in by_path.items() if text is None),
        )

    def _text_file(self, path: str, text: str) -> FileState:
        content = composed(text).encode()
        shown = self._without_home_path(content[:TEXT_LIMIT].decode(errors="ignore"))
        return FileState(
            path=path,
            size=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
            text=shown[:TEXT_LIMIT],
            content="text",
            truncated=len(content) > TEXT_LIMIT,
        )

    def _without_home_path(self, text: str) -> str:
        for application, place in self.outside_folders.items():
            text = text.replace(str(place), f"{_HOME_PLACEHOLDER}/{APPLICATIONS_FOLDER}/{application}")
        return text.replace(self.shown_home or str(self.home), _HOME_PLACEHOLDER)

    def _state(self, path: str, entry: os.DirEntry[str]) -> tuple[tuple[_Stamp, ...], FileState]:
        if not entry.is_file(follow_symlinks=False):
            return (), _without_content(path, entry)
        stamps = tuple(_stamps(Path(entry.path)))
        known = self._known.get(path)
        if known is not None and known[0] == stamps:
            return known
        return stamps, self._read(path, Path(entry.path))

    def _read(self, path: str, file: Path) -> FileState:
        with file.open("rb") as opened:
            content = opened.read(_LARGEST_READ)
            opened.seek(0)
            sha256 = hashlib.file_digest(opened, "sha256").hexdigest()
            size = opened.tell()
        text: str | None = None
        log, kind, whole = _log_ending_of(file), "text", True
        if is_database(content):
            kind, (text, whole) = "database", render_database(file, TEXT_LIMIT) or (None, True)
        elif (document := render_document(content)) is not None:
            kind, text = "document", document
        elif size <= _LARGEST_READ and (listing := list_members(content)) is not None:
            kind, (text, whole) = "archive", listing
        elif (shown := unpacked_text(content)) is not None:
            kind, text = shown
        elif not log:
            whole = size <= TEXT_LIMIT
            text = _decode(content[:TEXT_LIMIT], whole=whole)
        truncated = text is not None and (not whole or len(text) > TEXT_LIMIT)
        if text is not None:
            text = self._without_home_path(text)[:TEXT_LIMIT]
        return FileState(
            path=path,
            size=size,
            sha256=sha256,
            text=text,
            content="" if text is None else kind,
            truncated=truncated,
            part_of=path.removesuffix(log) if log else "",
        )


def _without_content(path: str, entry: os.DirEntry[str]) -> FileState:
    """The state of a link, identified by its target and never followed, or of a pipe or the like."""
    target = str(Path(entry.path).readlink()) if entry.is_symlink() else ""
    digest = hashlib.sha256(os.fsencode(target)).hexdigest()
    return FileState(path=path, size=len(target), sha256=digest, content="")


def _log_ending_of(file: Path) -> str:
    """The ending of a file that accompanies a database in the same folder; empty for any other file."""
    ending = next((ending for ending in _LOG_ENDINGS if file.name.endswith(ending)), "")
    owner = file.with_name(file.name.removesuffix(ending) or file.name)
    try:
        if not ending or not owner.is_file():
            return ""
        with owner.open("rb") as opened:
            return ending if is_database(opened.read(16)) else ""
    except OSError:
        return ""


def _entries(folder: Path) -> list[os.DirEntry[str]] | None:
    """The entries of a folder, by name; at most one more than is kept. None if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            found = list(itertools.islice(entries, MOST_FILES + 1))
    except OSError:
        return None
    return sorted(found, key=lambda entry: entry.name)


def _stamps(file: Path) -> list[_Stamp]:
    """Stamps that change when a file, or the log of a database, changes."""
    stamps = []
    for path in (file, file.with_name(file.name + "-wal")):
        try:
            status = path.stat()
        except OSError:
            continue
        stamps.append((status.st_mtime_ns, status.st_size, status.st_ino))
    return stamps


def _decode(content: bytes, *, whole: bool) -> str | None:
    """`content` as text, or None; unless it is the `whole` file, it may end inside a character."""
    mark, encoding = next((item for item in _BYTE_ORDER_MARKS if content.startswith(item[0])), (b"", "utf-8"))
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(content[len(mark) :], final=whole)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else composed(text)


_MOST_MEMBERS = 1_000
_MOST_BYTES = 32 * 1024 * 1024
"""Unpacked bytes of an archive that are read."""
_LARGEST_ARCHIVE = 64 * 1024 * 1024


def list_members(content: bytes) -> tuple[str, bool] | None:
    """A line per file in a zip or tar archive (compressed or not) with name, size and checksum; and whether
    the list is complete. None for anything else.

    The checksum is the SHA-256 of the unpacked file; for a zip member that cannot be unpacked, such as one
    with a password or after too many bytes, it is the one that the archive states. Files beyond the limit of
    files, or of bytes of a tar archive, are left out.
    """
    if len(content) > _LARGEST_ARCHIVE:
        return None
    try:
        if content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            members: Iterator[str | None] = _zip_members(content)
        elif content[257:262] == b"ustar" or content.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ")):
            members = _tar_members(content)
        else:
            return None
        lines = list(itertools.islice(members, _MOST_MEMBERS + 1))
    except (*DAMAGED, tarfile.TarError):
        return None
    listed = sorted(line for line in lines[:_MOST_MEMBERS] if line is not None)
    whole = None not in lines and len(lines) <= _MOST_MEMBERS
    return ARCHIVE_HEADER + "".join(f"{line}\n" for line in listed), whole


def _zip_members(content: bytes) -> Iterator[str]:
    remaining = _MOST_BYTES
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.infolist():
            if member.is_dir():
                continue
            remaining -= member.file_size
            checksum = f"{member.CRC:08x}"
            try:
                if remaining >= 0 and member.compress_type in IN_PIECES:
                    with archive.open(member) as packed:
                        checksum = hashlib.file_digest(packed, "sha256").hexdigest()  # type: ignore[arg-type]
            except DAMAGED:
                pass  # the checksum that the archive states is kept
            yield _line(member.filename, member.file_size, checksum)


def _tar_members(content: bytes) -> Iterator[str | None]:
    """The lines of a tar archive, and None at the end if it holds more than is read."""
    read = 0
    with tarfile.open(fileobj=io.BytesIO(content), mode="r|*") as archive:
        for member in archive:
            read += member.size
            if read > _MOST_BYTES:
                yield None
                return
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None:
                yield _line(member.name, member.size, hashlib.sha256(file.read()).hexdigest())


def _line(name: str, size: int, checksum: str) -> str:
    name = composed(name)
    quoted = '"' + name.replace('"', '""') + '"' if any(mark in name for mark in '\t\r\n"') else name
    return f"{quoted}\t{size}\t{checksum}"
