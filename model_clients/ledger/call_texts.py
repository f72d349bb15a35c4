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
    """A part of a stored message: text, or a picture."""

    text: str = ""
    """The text."""
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
        for part in (part for message in stored for part in message["content"]):
            if sha256 := part.pop("text_sha256", ""):
                long = zlib.decompress(contents[sha256]) if sha256 in contents else b"(not in the ledger)"
                part["text"] = long.decode("utf-8", errors="replace")
    except (sqlite3.Error, zlib.error, ValueError, KeyError) as error:
        raise LedgerBrokenError(f"cannot read the ledger {path}: {error}") from error
    return CallText(messages=stored, reply=row[1])
