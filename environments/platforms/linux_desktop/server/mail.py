"""The messages of mail folders in the MH format, a file per message, as JSON that checks can read."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from pathlib import Path

_MOST_MESSAGES = 2000
_LARGEST = 16 * 1024 * 1024
"""Bytes of a message; what is larger is left out."""
_NEVER = datetime.min.replace(tzinfo=UTC)
_HEADERS = ("to", "cc", "bcc", "subject")


def messages(place: Path) -> bytes:
    """All messages of the folders below `place`, the oldest first: each with its folder, the headers that
    people see, its text, and its attachments; those that are text with their content.

    Numbers of files, dates and ids are left out, because the program chooses them, as it chooses who wrote
    what was not received.
    """
    found = []
    for folder, file in _files(place):
        try:
            message = _message(file.read_bytes())
            found.append((_date(message), folder, int(file.name), _told(folder, message)))
        except (OSError, ValueError, LookupError, AssertionError, TypeError, AttributeError, IndexError):
            continue  # half written, or none
    found.sort(key=lambda item: item[:3])
    told = [told for _, _, _, told in found]
    return json.dumps({"messages": told}, ensure_ascii=False, indent=1).encode(errors="replace")


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


def _message(content: bytes) -> EmailMessage:
    """The message in a file; what waits to be sent may stand below what the program notes about it."""
    message = message_from_bytes(content, policy=policy.default)
    _, mark, below = content.replace(b"\r\n", b"\n").partition(b"\n\n")
    if message["from"] is None and mark:
        inner = message_from_bytes(below, policy=policy.default)
        message = inner if inner["from"] is not None else message
    assert isinstance(message, EmailMessage)
    return message


def _date(message: EmailMessage) -> datetime:
    try:
        date = parsedate_to_datetime(str(message["date"]))
    except (TypeError, ValueError):
        return _NEVER
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _told(folder: str, message: EmailMessage) -> dict[str, object]:
    body = message.get_body(("plain",))
    shown = ("from", *_HEADERS) if message["received"] is not None else _HEADERS
    headers = {name: str(message[name]).strip() for name in shown if message[name]}
    return {
        "folder": folder,
        **headers,
        "text": _text(body.get_content()).rstrip() if body is not None else "",
        "attachments": [_attachment(part) for part in message.iter_attachments()],
    }


def _attachment(part: object) -> dict[str, object]:
    assert isinstance(part, EmailMessage)
    content = part.get_payload(decode=True)
    name = part.get_filename() or ""
    if not isinstance(content, bytes):
        return {"name": name}
    try:
        return {"name": name, "text": _text(content.decode())}
    except UnicodeDecodeError:
        return {"name": name, "sha256": hashlib.sha256(content).hexdigest()}


def _text(content: object) -> str:
    return str(content).replace("\r\n", "\n")
