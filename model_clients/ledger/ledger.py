"""The ledger: every reply is durable before it is used, so no call is paid for twice (method, section 10)."""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
import sqlite3
import threading
import time
import uuid
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from pydantic import JsonValue, TypeAdapter

from taskloom.model_clients.errors import LedgerBrokenError, ModelClientError, RequestRejectedError
from taskloom.model_clients.ledger.request_keys import canonical_json, plain_turns
from taskloom.model_clients.ledger.writer import LedgerWriter, open_database
from taskloom.model_clients.messages import ModelReply, ModelRequest, TextContent
from taskloom.taskgraph.records.model_calls import (
    FINAL_OUTCOMES,
    CallFigures,
    CallOutcome,
    CallPurpose,
    FinishReason,
    ModelCall,
)

_COLUMNS = tuple(ModelCall.model_fields)
_OF_REPLY = ("finish_reason", *CallFigures.model_fields)
_INSERT = (
    f"INSERT OR REPLACE INTO calls ({', '.join(_COLUMNS)}, request, reply)"  # noqa: S608 - names from our own record
    f" VALUES ({', '.join('?' * (len(_COLUMNS) + 2))})"
)
_FINAL = tuple(sorted(FINAL_OUTCOMES))
_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)


class Ledger:
    """A file of calls and their replies, shared by any number of processes on one machine.

    Guarantees that a reply survives any crash of the process or the machine once `record` has returned, that
    equal pictures and long texts are stored once, and that it never contains a key, because keys are not part
    of a request.
    """

    def __init__(self, path: Path) -> None:
        """Open or create the ledger at `path`.

        Raises:
            LedgerBrokenError: the file cannot be opened or is not a ledger.
        """
        self.path = path
        self._writer = LedgerWriter(path)
        self._reader = open_database(path)
        self._reading = threading.Lock()
        self._owner = (
            f"{socket.gethostname()}:{os.getpid()}:{_process_start(os.getpid())}:{uuid.uuid4().hex[:8]}"
        )

    def __enter__(self) -> Ledger:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """Finish all writes and close the file. May be called twice."""
        self._writer.close()
        self._reader.close()

    def find(self, key: str) -> ModelReply | None:
        """The reply of a finished call, marked as read from the ledger; None if the call was never
        finished."""
        row = self._one(
            f"SELECT reply, {', '.join(_OF_REPLY)} FROM calls WHERE key = ? AND outcome IN {_FINAL}",  # noqa: S608
            (key,),
        )
        if row is None:
            return None
        names = ("text", *_OF_REPLY)
        return ModelReply.model_validate({**dict(zip(names, row, strict=True)), "from_ledger": True})

    async def record(self, call: ModelCall, request: ModelRequest, text: str | None) -> None:
        """Store a call with its request and the text of its reply, if any; returns once it is on disk.

        A finished call is never replaced by a failed one.

        Raises:
            LedgerBrokenError: the disk is full or the file is gone.
        """
        form = stored_form(request)
        values = (
            *_row(call),
            zlib.compress(form.json.encode(), 6),
            text,
        )

        def write(connection: sqlite3.Connection) -> None:
            if call.outcome not in FINAL_OUTCOMES:
                row = connection.execute(
                    f"SELECT 1 FROM calls WHERE key = ? AND outcome IN {_FINAL}",  # noqa: S608
                    (call.key,),
                ).fetchone()
                if row is not None:
                    return
            connection.execute(_INSERT, values)
            for sha256, media_type, body in form.contents:
                connection.execute(
                    "INSERT OR IGNORE INTO contents VALUES (?, ?, ?)", (sha256, media_type, body)
                )
                connection.execute("INSERT OR IGNORE INTO call_contents VALUES (?, ?)", (call.key, sha256))
            connection.execute("DELETE FROM leases WHERE key = ? AND owner = ?", (call.key, self._owner))
            connection.execute("DELETE FROM batch_requests WHERE key = ?", (call.key,))

        await asyncio.wrap_future(self._writer.submit(write))

    async def lease(self, key: str, seconds: float) -> bool:
        """Take or renew the right to make a call; False if another running process has it.

        The lease of a dead process is taken over at once or, if it was on another machine, when it expires. A
        lease need not survive a power failure, because the process that holds it does not either.
        """

        def write(connection: sqlite3.Connection) -> bool:
            now = time.time()
            row = connection.execute("SELECT owner, expires_at FROM leases WHERE key = ?", (key,)).fetchone()
            if row is not None and row[0] != self._owner and row[1] > now and _alive(row[0]):
                return False
            connection.execute(
                "INSERT OR REPLACE INTO leases VALUES (?, ?, ?)", (key, self._owner, now + seconds)
            )
            return True

        return await asyncio.wrap_future(self._writer.submit(write, durable=False))

    async def release(self, key: str) -> None:
        """Give a lease back."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM leases WHERE key = ? AND owner = ?", (key, self._owner))

        await asyncio.wrap_future(self._writer.submit(write, durable=False))

    def spent(self, run_id: str) -> tuple[float, int]:
        """US dollars and tokens that a run has spent so far."""
        ((cost, tokens),) = self.select(
            "SELECT SUM(cost_usd), SUM(input_tokens + output_tokens) FROM calls WHERE run_id = ?", (run_id,)
        )
        return _float(cost), int(_float(tokens))

    def calls(self, run_id: str | None = None) -> Iterator[ModelCall]:
        """All calls, or those of one run, oldest first."""
        condition = "" if run_id is None else " WHERE run_id = ?"
        parameters: tuple[str, ...] = () if run_id is None else (run_id,)
        query = f"SELECT {', '.join(_COLUMNS)} FROM calls{condition} ORDER BY finished_at, key"  # noqa: S608
        for row in self.select(query, parameters):
            yield ModelCall.model_validate(dict(zip(_COLUMNS, row, strict=True)))

    def select(self, sql: str, parameters: tuple[str | float | int, ...] = ()) -> list[tuple[object, ...]]:
        """The rows of a query on the ledger's tables; for trusted SQL only.

        Raises:
            LedgerBrokenError: the ledger cannot be read.
        """
        try:
            with self._reading:
                return self._reader.execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            raise LedgerBrokenError(f"cannot read the ledger {self.path}: {error}") from error

    @property
    def writer(self) -> LedgerWriter:
        """The thread that writes."""
        return self._writer

    def _one(self, sql: str, parameters: tuple[str, ...]) -> tuple[str, ...] | None:
        try:
            with self._reading:
                row: tuple[str, ...] | None = self._reader.execute(sql, parameters).fetchone()
                return row
        except sqlite3.Error as error:
            raise LedgerBrokenError(f"cannot read the ledger {self.path}: {error}") from error


def _row(call: ModelCall) -> tuple[str | int | float, ...]:
    return tuple(call.model_dump(mode="json").values())


def _float(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _process_start(process_id: int) -> str:
    """The kernel's start time of the process; tells it apart from a later process with the same id."""
    try:
        fields = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8", errors="replace")
        return fields.rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _alive(owner: str) -> bool:
    host, process_id, start, _ = owner.rsplit(":", 3)
    if host != socket.gethostname():
        return True
    try:
        os.kill(int(process_id), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _process_start(int(process_id)) == start


_LONG_TEXT_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class StoredForm:
    """A request ready to be stored."""

    json: str
    """The messages and the schema, long parts replaced by their hash."""
    contents: tuple[tuple[str, str, bytes], ...]
    """Long parts: SHA-256 of the plain bytes, media type, stored bytes (texts are compressed)."""


def stored_form(request: ModelRequest) -> StoredForm:
    """`request` in the form in which the ledger stores it."""
    contents: dict[str, tuple[str, bytes]] = {}
    messages: list[JsonValue] = []
    for message in request.messages:
        parts: list[JsonValue] = []
        for content in message.content:
            if isinstance(content, TextContent):
                parts.append(_text(content.text, contents))
            else:
                if content.image.png:
                    contents[content.image.sha256] = ("image/png", content.image.png)
                parts.append({"image": content.image.sha256})
        messages.append({"role": message.role, "content": parts})
    body: dict[str, JsonValue] = {
        "messages": messages,
        "schema_name": request.reply_schema_name,
        "schema": _text(canonical_json(request.reply_schema), contents) if request.reply_schema else None,
    }
    if request.functions:
        body["functions"] = _text(canonical_json(list(request.functions)), contents)
    if request.computer is not None:
        body["computer"] = plain_turns(request.computer)
        for screenshot in (result.screenshot for turn in request.computer for result in turn.results):
            contents[screenshot.sha256] = ("image/png", screenshot.png)
    return StoredForm(canonical_json(body), tuple((sha256, *rest) for sha256, rest in contents.items()))


def _text(text: str, contents: dict[str, tuple[str, bytes]]) -> JsonValue:
    if len(text) < _LONG_TEXT_CHARACTERS:
        return {"text": text}
    encoded = text.encode("utf-8", errors="surrogatepass")
    sha256 = hashlib.sha256(encoded).hexdigest()
    if sha256 not in contents:
        contents[sha256] = ("text/plain+zlib", zlib.compress(encoded, 6))
    return {"text_sha256": sha256}


_OUTCOMES: dict[FinishReason, CallOutcome] = {
    "stop": "answered",
    "other": "answered",
    "length": "truncated",
    "refusal": "refused",
    "content_filter": "filtered",
}


def call_record(
    key: str,
    request: ModelRequest,
    result: ModelReply | ModelClientError,
    *,
    provider: str,
    model: str,
    base_url: str = "",
    run_id: str = "",
    purpose: CallPurpose = "first",
    fallback: int = 0,
) -> ModelCall:
    """The row for `request`, which brought `result` just now."""
    made = ModelCall(
        key=key,
        run_id=run_id,
        stage=request.stage,
        item_id=request.item_id,
        role=request.role,
        provider=provider,
        base_url=base_url,
        model=model,
        template_hash=request.template_hash,
        attempt=request.attempt,
        purpose=purpose,
        fallback=fallback,
        finished_at=moment(datetime.now(UTC)),
    )
    if isinstance(result, ModelClientError):
        outcome: CallOutcome = "rejected" if isinstance(result, RequestRejectedError) else "failed"
        return made.model_copy(
            update={"outcome": outcome, "error": str(result), "provider_request_id": result.request_id}
        )
    return made.model_copy(
        update={
            "outcome": _OUTCOMES[result.finish_reason],
            "finish_reason": result.finish_reason,
            **result.model_dump(include=set(CallFigures.model_fields)),
        }
    )


def moment(time: datetime) -> str:
    """A moment as the ledger writes it: ISO 8601 in UTC, so that texts compare as times do."""
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
