"""What checks read from a machine: files, settings, processes, clipboard, and messages in mail folders."""

import base64
import csv
import hashlib
import io
import json
import os
import subprocess
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import unquote

from taskloom.environments.platforms.linux_desktop.server.programs import HOME, running_programs

_APPLICATIONS = ".applications"
_IGNORED_FOLDERS = frozenset({".git", "node_modules", "__pycache__", ".cache"})
_BACKUP_ENDING = "~"
"""Ending of the names of backup files."""
_LARGEST = 64 * 1024 * 1024
"""Larger files are not sent."""
_MOST_FILES = 4000
_LARGEST_MESSAGE = 16 * 1024 * 1024
"""Larger messages are left out."""
_MOST_MESSAGES = 2000
_NO_DATE = datetime.min.replace(tzinfo=UTC)
_HEADERS = ("to", "cc", "bcc", "subject")
_SELECTION_SECONDS = 2.0

Stamp = tuple[int, int, int]


class Evidence:
    """The files of the machine, and which of them were sent to the host."""

    def __init__(self) -> None:
        self._sent: dict[str, Stamp | bytes] = {}

    def changed(self, wanted: Mapping[str, object], *, send_all: bool) -> tuple[bytes, dict[str, list[str]]]:
        """An archive of the files that changed since the last call; the names of all `files` and
        `directories`, and of files `unseen` because they cannot be read or are too large.

        `wanted` lists, per application, evidence in addition to the visible files of the home: `folder`, the
        file or folder with its state, below the home; `mail`, its folder of messages; `settings`, the path of
        its settings in dconf; `processes`.
        """
        if send_all:
            self._sent.clear()
        now: dict[str, Stamp | bytes] = {}
        directories: list[str] = []
        self._unseen: list[str] = []
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for path, file, stamp in self._files(wanted, directories):
                now[path] = stamp
                if self._sent.get(path) == stamp:
                    continue
                try:
                    content = stamp if isinstance(stamp, bytes) else file.read_bytes()
                except OSError:
                    self._unseen.append(path)
                    del now[path]
                    continue
                member = tarfile.TarInfo(path)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        self._sent = now
        names = {"files": sorted(now), "directories": sorted(directories), "unseen": sorted(self._unseen)}
        return packed.getvalue(), names

    def _files(
        self, wanted: Mapping[str, object], directories: list[str]
    ) -> Iterator[tuple[str, Path, Stamp | bytes]]:
        count = 0
        places = [("", HOME)]
        for application, state in wanted.items():
            assert isinstance(state, dict)
            prefix = f"{_APPLICATIONS}/{application}"
            places += [(prefix, HOME / state["folder"])] if state.get("folder") else []
            if state.get("mail"):
                yield f"{prefix}/mail.json", HOME, messages(HOME / state["mail"])
            if state.get("settings"):
                yield f"{prefix}/settings.ini", HOME, _settings(state["settings"])
            if state.get("processes"):
                yield f"{prefix}/processes.csv", HOME, _processes()
        for prefix, place in places:
            for path, file in _files_below(prefix, place, directories):
                try:
                    status = file.stat()
                except OSError:
                    continue
                if status.st_size > _LARGEST or count >= _MOST_FILES:
                    self._unseen.append(path)
                    continue
                count += 1
                yield path, file, (status.st_mtime_ns, status.st_size, status.st_ino)


def clipboard() -> dict[str, str]:
    """The clipboard (`text`, `image` as PNG in base64, `file_name`) and the primary `selection`."""
    found = {"selection": _selection("primary", "UTF8_STRING").decode(errors="replace")}
    targets = _selection("clipboard", "TARGETS").decode(errors="replace").split()
    if "x-special/gnome-copied-files" in targets or "text/uri-list" in targets:
        listed = _selection("clipboard", "text/uri-list").decode(errors="replace").splitlines()
        names = [line.rpartition("/")[2] for line in listed if line.startswith("file:")]
        if names:
            return {**found, "file_name": unquote(names[0])}
    if "image/png" in targets:
        found["image"] = base64.b64encode(_selection("clipboard", "image/png")).decode()
    elif "UTF8_STRING" in targets or "STRING" in targets:
        found["text"] = _selection("clipboard", "UTF8_STRING").decode(errors="replace")
    return found


def _selection(name: str, target: str) -> bytes:
    try:
        done = subprocess.run(
            ["xclip", "-o", "-selection", name, "-t", target],
            capture_output=True,
            timeout=_SELECTION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout if done.returncode == 0 else b""


def _settings(path: str) -> bytes:
    folder = path if path.endswith("/") else path + "/"
    done = subprocess.run(["dconf", "dump", folder], capture_output=True, timeout=10, check=False)
    return done.stdout


def _processes() -> bytes:
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow(("program", "arguments"))
    table.writerows(running_programs())
    return written.getvalue().encode()


def _files_below(prefix: str, place: Path, directories: list[str]) -> Iterator[tuple[str, Path]]:
    if place.is_file():
        yield f"{prefix}/{place.name}", place
        return
    pending = [(prefix, place)]
    while pending:
        parent, folder = pending.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        if parent:
            directories.append(parent)
        for entry in entries:
            path = f"{parent}/{entry.name}" if parent else entry.name
            hidden = not parent and entry.name.startswith(".")
            if hidden or entry.name in _IGNORED_FOLDERS:
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append((path, Path(entry.path)))
            elif entry.is_file(follow_symlinks=False) and not entry.name.endswith(_BACKUP_ENDING):
                yield path, Path(entry.path)


def messages(place: Path) -> bytes:
    """All messages below `place`, in MH folders with a file per message, as JSON, oldest first: each with its
    folder, the visible headers as in the file, its text, and its attachments, as text or else as a digest.

    File numbers, dates and ids are left out, because the program chooses them, and so is the sender of
    messages that were not received. A message that cannot be read is given as its digest.
    """
    found = []
    for folder, file in _message_files(place):
        try:
            content = file.read_bytes()
        except OSError:
            continue  # removed meanwhile
        try:
            message = _message(content)
            found.append((_date(message), folder, int(file.name), _describe_message(folder, message)))
        except Exception:
            digest: dict[str, object] = {"folder": folder, "sha256": hashlib.sha256(content).hexdigest()}
            found.append((_NO_DATE, folder, int(file.name), digest))
    found.sort(key=lambda item: item[:3])
    return json.dumps({"messages": [fields for *_, fields in found]}, ensure_ascii=False, indent=1).encode(
        errors="replace"
    )


def _message_files(place: Path) -> Iterator[tuple[str, Path]]:
    count = 0
    for above, folders, names in os.walk(place):
        folders.sort()
        for name in sorted(names):
            file = Path(above, name)
            if not (name.isascii() and name.isdecimal()) or file.is_symlink() or count >= _MOST_MESSAGES:
                continue
            try:
                if not 0 < file.stat().st_size <= _LARGEST_MESSAGE:
                    continue
            except OSError:
                continue
            count += 1
            yield str(file.parent.relative_to(place)), file


def _message(content: bytes) -> Message:
    """The message in a file; in a queued message, the program's notes may precede it."""
    message = message_from_bytes(content)
    _, mark, below = content.replace(b"\r\n", b"\n").partition(b"\n\n")
    if message["from"] is None and mark:
        inner = message_from_bytes(below)
        message = inner if inner["from"] is not None else message
    return message


def _date(message: Message) -> datetime:
    try:
        date = parsedate_to_datetime(str(message["date"]))
    except (TypeError, ValueError, OverflowError):
        return _NO_DATE
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _describe_message(folder: str, message: Message) -> dict[str, object]:
    parts = list(_leaves(message))
    body, shown = _body(parts), ("from", *_HEADERS) if message["received"] is not None else _HEADERS
    headers = {
        name: ", ".join(map(_decode_header, values))
        for name in shown
        if (values := [value for value in message.get_all(name, []) if str(value).strip()])
    }
    return {
        "folder": folder,
        **headers,
        "text": (_text(body) or "").rstrip() if body is not None else "",
        "attachments": [_attachment(part) for part in parts if part is not body],
    }


def _decode_header(value: object) -> str:
    return str(make_header(decode_header(" ".join(str(value).split()))))


def _leaves(message: Message) -> Iterator[Message]:
    """The parts with content; a message within the message is one part."""
    payload = message.get_payload()
    if message.get_content_maintype() == "multipart" and isinstance(payload, list):
        for part in payload:
            if isinstance(part, Message):
                yield from _leaves(part)
    else:
        yield message


def _body(parts: Sequence[Message]) -> Message | None:
    for part in parts:
        if part.get_content_type() == "text/plain" and part.get_content_disposition() != "attachment":
            return part
    return None


def _attachment(part: Message) -> dict[str, object]:
    name = _decode_header(part.get_filename() or "")
    text = _text(part)
    if text is not None:
        return {"name": name, "text": text}
    content = part.get_payload(decode=True)
    whole = content if isinstance(content, bytes) else part.as_bytes()
    return {"name": name, "sha256": hashlib.sha256(whole).hexdigest()}


def _text(part: Message) -> str | None:
    """The text of a part; None for other content, including PDF documents that decode as text."""
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes) or content.startswith(b"%PDF-"):
        return None
    try:
        return content.decode(part.get_content_charset("utf-8")).replace("\r\n", "\n")
    except (UnicodeDecodeError, LookupError):
        return None
