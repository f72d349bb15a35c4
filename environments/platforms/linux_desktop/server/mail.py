"""The messages of mail folders in the MH format, a file per message, as JSON that checks can read."""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parsedate_to_datetime
from pathlib import Path

_MOST_MESSAGES = 2000
_LARGEST = 16 * 1024 * 1024
"""Bytes of a message; what is larger is left out."""
_NEVER = datetime.min.replace(tzinfo=UTC)
_HEADERS = ("to", "cc", "bcc", "subject")


def messages(place: Path) -> bytes:
    """All messages of the folders below `place`, the oldest first: each with its folder, the headers that
    people see as they stand in the file, its text, and its attachments; text is told, all else by its digest.

    Numbers of files, dates and ids are left out, because the program chooses them, as it chooses who wrote
    what was not received. A message that cannot be read is told by its digest.
    """
    found = []
    for folder, file in _files(place):
        try:
            content = file.read_bytes()
        except OSError:
            continue  # gone meanwhile
        try:
            message = _message(content)
            found.append((_date(message), folder, int(file.name), _told(folder, message)))
        except Exception:
            told: dict[str, object] = {"folder": folder, "sha256": hashlib.sha256(content).hexdigest()}
            found.append((_NEVER, folder, int(file.name), told))
    found.sort(key=lambda item: item[:3])
    return json.dumps({"messages": [told for *_, told in found]}, ensure_ascii=False, indent=1).encode(
        errors="replace"
    )


def _files(place: Path) -> Iterator[tuple[str, Path]]:
    count = 0
    for above, folders, names in os.walk(place):
        folders.sort()
        for name in sorted(names):
            file = Path(above, name)
            if not (name.isascii() and name.isdecimal()) or file.is_symlink() or count >= _MOST_MESSAGES:
                continue
            try:
                if not 0 < file.stat().st_size <= _LARGEST:
                    continue
            except OSError:
                continue
            count += 1
            yield str(file.parent.relative_to(place)), file


def _message(content: bytes) -> Message:
    """The message in a file; what waits to be sent may stand below what the program notes about it."""
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
        return _NEVER
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _told(folder: str, message: Message) -> dict[str, object]:
    parts = list(_leaves(message))
    body, shown = _body(parts), ("from", *_HEADERS) if message["received"] is not None else _HEADERS
    headers = {
        name: ", ".join(map(_decoded, values))
        for name in shown
        if (values := [value for value in message.get_all(name, []) if str(value).strip()])
    }
    return {
        "folder": folder,
        **headers,
        "text": (_text(body) or "").rstrip() if body is not None else "",
        "attachments": [_attachment(part) for part in parts if part is not body],
    }


def _decoded(value: object) -> str:
    return str(make_header(decode_header(" ".join(str(value).split()))))


def _leaves(message: Message) -> Iterator[Message]:
    """The parts that hold something; a message within the message is one of them, whole."""
    payload = message.get_payload()
    if message.get_content_maintype() == "multipart" and isinstance(payload, list):
        for part in payload:
            if isinstance(part, Message):
                yield from _leaves(part)
    else:
        yield message


def _body(parts: Sequence[Message]) -> Message | None:
    return next(
        (
            part
            for part in parts
            if part.get_content_type() == "text/plain" and part.get_content_disposition() != "attachment"
        ),
        None,
    )


def _attachment(part: Message) -> dict[str, object]:
    name = _decoded(part.get_filename() or "")
    text = _text(part)
    if text is not None:
        return {"name": name, "text": text}
    content = part.get_payload(decode=True)
    whole = content if isinstance(content, bytes) else part.as_bytes()
    return {"name": name, "sha256": hashlib.sha256(whole).hexdigest()}


def _text(part: Message) -> str | None:
    """The text of a part; None for what is none, as a PDF document, although its bytes may all be letters."""
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes) or content.startswith(b"%PDF-"):
        return None
    try:
        return content.decode(part.get_content_charset("utf-8")).replace("\r\n", "\n")
    except (UnicodeDecodeError, LookupError):
        return None
