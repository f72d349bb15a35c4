"""What was said in a call: the messages that were sent and the reply, read from a ledger without changing
it."""

import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from pydantic import Field

from taskloom.model_clients.errors import LedgerBrokenError
from taskloom.resources.record import Record


class StoredPart(Record):
    """A part of a stored message: text, text that is stored beside it, or a picture."""

    text: str = ""
    """The text."""
    text_sha256: str = ""
    """Hash under which a long text is stored."""
    image: str = ""
    """Hash of a picture."""


class StoredMessage(Record):
    """A stored message."""

    role: str
    """Who says it."""
    content: tuple[StoredPart, ...]
    """Its parts."""


class CallText(Record):
    """What was said in a call."""

    messages: tuple[StoredMessage, ...] = Field(default=())
    """What was sent, with long texts in place; empty where requests were pruned."""
    reply: str | None
    """What came back; None where no reply did."""


def read_call_text(path: Path, key: str) -> CallText | None:
    """The call with this key in the ledger at `path`; None where the ledger does not have it."""
    if not path.exists():
        return None
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as database:
            row = database.execute("SELECT request, reply FROM calls WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            contents = dict(
                database.execute(
                    "SELECT sha256, body FROM contents WHERE media_type = 'text/plain+zlib'"
                    " AND sha256 IN (SELECT sha256 FROM call_contents WHERE key = ?)",
                    (key,),
                ).fetchall()
            )
        stored = json.loads(zlib.decompress(row[0]))["messages"] if row[0] else []
    except (sqlite3.Error, zlib.error, ValueError, KeyError) as error:
        raise LedgerBrokenError(f"cannot read the ledger {path}: {error}") from error
    texts = {
        sha256: zlib.decompress(body).decode("utf-8", errors="replace") for sha256, body in contents.items()
    }
    messages = [StoredMessage.model_validate(item) for item in stored]
    return CallText(messages=tuple(_whole(item, texts) for item in messages), reply=row[1])


def _whole(message: StoredMessage, texts: dict[str, str]) -> StoredMessage:
    parts = tuple(
        StoredPart(text=texts.get(part.text_sha256, "(not in the ledger)")) if part.text_sha256 else part
        for part in message.content
    )
    return message.model_copy(update={"content": parts})
