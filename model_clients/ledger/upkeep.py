"""Maintenance of a ledger: reads the messages of a call, sums up calls, and cleans up."""

import json
import sqlite3
import zlib
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from pydantic import Field

from taskloom.model_clients.errors import LedgerBrokenError
from taskloom.model_clients.ledger.ledger import FINAL, Ledger, format_time
from taskloom.resources.record import Record


@dataclass(frozen=True, slots=True)
class PruneResult:
    """The numbers of deleted items."""

    calls: int
    requests: int
    """Requests of calls whose replies are kept."""
    contents: int
    """Pictures and long texts that no call needs any longer."""


def prune_ledger(
    ledger: Ledger, *, older_than_days: float | None = None, failed: bool = False, requests: bool = False
) -> PruneResult:
    """Delete what the arguments select, then pictures and texts that no call needs, and shrink the file.

    Args:
        ledger: the ledger.
        older_than_days: calls that ended longer ago than this; they would have to be paid for again.
        failed: calls without a reply.
        requests: the messages of all calls; their replies stay and still save calls.
    """
    connection = sqlite3.connect(ledger.path, timeout=60, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        calls = cleared = 0
        if older_than_days is not None:
            oldest = format_time(datetime.now(UTC) - timedelta(days=older_than_days))
            calls += connection.execute("DELETE FROM calls WHERE finished_at < ?", (oldest,)).rowcount
        if failed:
            calls += connection.execute(f"DELETE FROM calls WHERE outcome NOT IN {FINAL}").rowcount  # noqa: S608
        if requests:
            cleared = connection.execute("UPDATE calls SET request = NULL WHERE request IS NOT NULL").rowcount
            connection.execute("DELETE FROM call_contents")
        connection.execute("DELETE FROM call_contents WHERE key NOT IN (SELECT key FROM calls)")
        contents = connection.execute(
            "DELETE FROM contents WHERE sha256 NOT IN (SELECT sha256 FROM call_contents)"
        ).rowcount
        connection.execute("COMMIT")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        raise LedgerBrokenError(f"cannot prune the ledger {ledger.path}: {error}") from error
    finally:
        connection.close()
    return PruneResult(calls, cleared, contents)


class CallSummary(Record):
    """Calls of one stage to one model with one outcome."""

    stage: str
    """Stage of the method."""
    model: str
    """Provider and model."""
    outcome: str
    """Outcome of the calls."""
    calls: int
    """Number of calls."""
    retries: int
    """Tries that failed transiently."""
    input_tokens: int
    """Input, cached part included."""
    cached_input_tokens: int
    """Input read from the provider's cache."""
    output_tokens: int
    """Output, reasoning included."""
    cost_usd: float
    """Price in US dollars."""
    calls_without_price: int
    """Calls whose price is unknown."""
    mean_latency_seconds: float
    """Mean time from sending to the last byte."""

    @property
    def cached_share(self) -> float:
        """Share of the input that the provider's cache held, 0 to 1."""
        return self.cached_input_tokens / self.input_tokens if self.input_tokens else 0.0


def summarise_calls(ledger: Ledger, run_id: str | None = None) -> list[CallSummary]:
    """The calls of the ledger, or of one run, summed up."""
    condition = "" if run_id is None else "WHERE run_id = ?"
    rows = ledger.select(
        f"""
        SELECT stage, provider || '/' || model, outcome, COUNT(*), SUM(retries), SUM(input_tokens),
               SUM(cached_input_tokens), SUM(output_tokens), SUM(cost_usd), SUM(cost_known = 0), AVG(latency_seconds)
        FROM calls {condition} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        """,  # noqa: E501, S608
        () if run_id is None else (run_id,),
    )
    return [CallSummary.model_validate(dict(zip(CallSummary.model_fields, row, strict=True))) for row in rows]


class StoredPart(Record):
    """A part of a stored message: text, or a picture."""

    text: str = ""
    """The text."""
    image: str = ""
    """Hash of a picture."""


class StoredMessage(Record):
    """A stored message."""

    role: str
    """Role of its sender."""
    content: tuple[StoredPart, ...]
    """Its parts."""


class CallText(Record):
    """The messages and the reply of a call."""

    messages: tuple[StoredMessage, ...] = Field(default=())
    """The messages sent, with their long texts; empty if requests were pruned."""
    reply: str | None
    """The reply; None if there was none."""


def read_call_text(path: Path, key: str) -> CallText | None:
    """The call with this key in the ledger at `path`; None if the ledger does not have it."""
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
