"""The ledger: every reply is durable before it is used, so no call is paid for twice (method, section 10)."""

import hashlib
import json
import os
import socket
import sqlite3
import threading
import time
import uuid
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import JsonValue

from taskloom.model_clients.errors import LedgerBrokenError, ModelClientError, RequestRejectedError
from taskloom.model_clients.ledger.writer import LedgerWriter, open_database
from taskloom.model_clients.messages import Message, ModelReply, ModelRequest, TextContent
from taskloom.model_clients.settings import ModelSettings
from taskloom.taskgraph.records.computer_use import ComputerTurn
from taskloom.taskgraph.records.model_calls import (
    FINAL_OUTCOMES,
    CallFigures,
    CallOutcome,
    CallPurpose,
    FinishReason,
    ModelCall,
)

_IDENTITY = {"provider", "model", "base_url", "protocol", "structured_output", "image_detail", "parameters"}


def request_key(settings: ModelSettings, request: ModelRequest) -> str:
    """SHA-256 of provider, base URL, model, parameters, schema, messages, picture hashes and attempt, in
    hexadecimal.

    Excludes whatever does not determine the reply (stage, item, template name, timeouts, prices, the key's
    variable), so equal requests for different items are one call.
    """
    identity: dict[str, JsonValue] = {
        "settings": settings.model_dump(mode="json", include=_IDENTITY),
        "schema_name": request.reply_schema_name,
        "schema": request.reply_schema,
        "messages": [_plain_message(message) for message in request.messages],
        "attempt": request.attempt,
    }
    if request.computer is not None:
        identity["computer"] = plain_turns(request.computer)
        if settings.computer_tool:
            identity["computer_tool"] = settings.computer_tool
    if request.functions:
        identity["functions"] = list(request.functions)
    return hashlib.sha256(canonical_json(identity).encode()).hexdigest()


def plain_turns(turns: Sequence[ComputerTurn]) -> list[JsonValue]:
    """The turns of a conversation about a computer as JSON, pictures by their hash."""
    return [turn.model_dump(mode="json") for turn in turns]


def canonical_json(value: JsonValue) -> str:
    """The canonical JSON text of `value`: keys sorted, no white space."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _plain_message(message: Message) -> dict[str, JsonValue]:
    parts: list[JsonValue] = [
        {"text": item.text} if isinstance(item, TextContent) else {"image": item.image.sha256}
        for item in message.content
    ]
    return {"role": message.role, "content": parts}


_COLUMNS = tuple(ModelCall.model_fields)
_REPLY_COLUMNS = ("finish_reason", *CallFigures.model_fields)
_INSERT = (
    f"INSERT OR REPLACE INTO calls ({', '.join(_COLUMNS)}, request, reply)"  # noqa: S608 - names from our own record
    f" VALUES ({', '.join('?' * (len(_COLUMNS) + 2))})"
)
FINAL = tuple(sorted(FINAL_OUTCOMES))
"""Outcomes of finished calls, as an SQL list."""


class Ledger:
    """A file of calls and their replies, shared by any number of processes on one machine.

    Guarantees that a reply survives any crash of the process or the machine once `record` has returned, that
    equal pictures and long texts are stored once, and that it never contains a key, because keys are not part
    of a request.
    """

    def __init__(self, path: Path) -> None:
        """Open or create the ledger at `path`; raises `LedgerBrokenError` if that fails or it is not one."""
        self.path = path
        self.writer = LedgerWriter(path)
        self._reader = open_database(path)
        self._reading = threading.Lock()
        process = os.getpid()
        self._owner = f"{socket.gethostname()}:{process}:{_process_start(process)}:{uuid.uuid4().hex[:8]}"

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Finish all writes and close the file. May be called twice."""
        self.writer.close()
        self._reader.close()

    def find(self, key: str) -> ModelReply | None:
        """The reply of a finished call, marked as read from the ledger; None if there is none."""
        columns = ", ".join(_REPLY_COLUMNS)
        query = f"SELECT reply, {columns} FROM calls WHERE key = ? AND outcome IN {FINAL}"  # noqa: S608
        for row in self.select(query, (key,)):
            values = dict(zip(("text", *_REPLY_COLUMNS), row, strict=True))
            return ModelReply.model_validate({**values, "from_ledger": True})
        return None

    async def record(self, call: ModelCall, request: ModelRequest, text: str | None) -> None:
        """Store a call with its request and the text of its reply, if any; returns once it is on disk.

        A finished call is never replaced by a failed one. A `LedgerBrokenError` means that the disk is full.
        """
        stored, contents = _encode_request(request)
        values = (*call.model_dump(mode="json").values(), zlib.compress(stored.encode(), 6), text)

        def write(connection: sqlite3.Connection) -> None:
            if call.outcome not in FINAL_OUTCOMES:
                row = connection.execute(
                    f"SELECT 1 FROM calls WHERE key = ? AND outcome IN {FINAL}",  # noqa: S608
                    (call.key,),
                ).fetchone()
                if row is not None:
                    return
            connection.execute(_INSERT, values)
            for sha256, content in contents.items():
                connection.execute("INSERT OR IGNORE INTO contents VALUES (?, ?, ?)", (sha256, *content))
                connection.execute("INSERT OR IGNORE INTO call_contents VALUES (?, ?)", (call.key, sha256))
            connection.execute("DELETE FROM leases WHERE key = ? AND owner = ?", (call.key, self._owner))
            connection.execute("DELETE FROM batch_requests WHERE key = ?", (call.key,))

        await self.writer.run(write)

    async def lease(self, key: str, seconds: float) -> bool:
        """Take or renew the lease of a call; False if another running process has it.

        The lease of a dead process is taken over at once or, if it was on another machine, when it expires. A
        lease need not survive a power failure, because the process that holds it does not either.
        """

        def write(connection: sqlite3.Connection) -> bool:
            now = time.time()
            row = connection.execute("SELECT owner, expires_at FROM leases WHERE key = ?", (key,)).fetchone()
            if row is not None and row[0] != self._owner and row[1] > now and _is_alive(row[0]):
                return False
            connection.execute(
                "INSERT OR REPLACE INTO leases VALUES (?, ?, ?)", (key, self._owner, now + seconds)
            )
            return True

        return await self.writer.run(write, durable=False)

    async def release(self, key: str) -> None:
        """Release a lease."""
        statement = ("DELETE FROM leases WHERE key = ? AND owner = ?", (key, self._owner))
        await self.writer.run(lambda connection: connection.execute(*statement), durable=False)

    def spent(self, run_id: str) -> tuple[float, int]:
        """US dollars and tokens that a run has spent so far."""
        sums = "COALESCE(SUM(cost_usd), 0), COALESCE(SUM(input_tokens + output_tokens), 0)"
        query = f"SELECT {sums} FROM calls WHERE run_id = ?"  # noqa: S608
        ((cost, tokens),) = self.select(query, (run_id,))
        return float(str(cost)), int(str(tokens))

    def calls(self, run_id: str | None = None) -> Iterator[ModelCall]:
        """All calls, or those of one run, oldest first."""
        condition = "" if run_id is None else " WHERE run_id = ?"
        parameters: tuple[str, ...] = () if run_id is None else (run_id,)
        query = f"SELECT {', '.join(_COLUMNS)} FROM calls{condition} ORDER BY finished_at, key"  # noqa: S608
        for row in self.select(query, parameters):
            yield ModelCall.model_validate(dict(zip(_COLUMNS, row, strict=True)))

    def select(self, sql: str, parameters: tuple[str | float | int, ...] = ()) -> list[tuple[object, ...]]:
        """The rows of a query on the ledger's tables; for trusted SQL only."""
        try:
            with self._reading:
                return self._reader.execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            raise LedgerBrokenError(f"cannot read the ledger {self.path}: {error}") from error


def _process_start(process_id: int) -> str:
    """The kernel's start time of the process, which distinguishes it from later ones with the same id."""
    try:
        fields = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8", errors="replace")
        return fields.rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _is_alive(owner: str) -> bool:
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
_Contents = dict[str, tuple[str, bytes]]
"""By SHA-256 of the plain bytes: media type and stored bytes; texts are compressed."""


def _encode_request(request: ModelRequest) -> tuple[str, _Contents]:
    """`request` as the ledger stores it: JSON with its long parts replaced by their hash, and these parts."""
    contents: _Contents = {}
    messages: list[JsonValue] = []
    for message in request.messages:
        parts: list[JsonValue] = []
        for content in message.content:
            if isinstance(content, TextContent):
                parts.append(_encode(content.text, contents))
            else:
                if content.image.png:
                    contents[content.image.sha256] = ("image/png", content.image.png)
                parts.append({"image": content.image.sha256})
        messages.append({"role": message.role, "content": parts})
    body: dict[str, JsonValue] = {
        "messages": messages,
        "schema_name": request.reply_schema_name,
        "schema": _encode(canonical_json(request.reply_schema), contents) if request.reply_schema else None,
    }
    if request.functions:
        body["functions"] = _encode(canonical_json(list(request.functions)), contents)
    if request.computer is not None:
        body["computer"] = plain_turns(request.computer)
        for screenshot in (result.screenshot for turn in request.computer for result in turn.results):
            contents[screenshot.sha256] = ("image/png", screenshot.png)
    return canonical_json(body), contents


def _encode(text: str, contents: _Contents) -> JsonValue:
    if len(text) < _LONG_TEXT_CHARACTERS:
        return {"text": text}
    encoded = text.encode("utf-8", errors="surrogatepass")
    sha256 = hashlib.sha256(encoded).hexdigest()
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
    result: ModelReply | ModelClientError,
    *,
    key: str,
    request: ModelRequest,
    model: ModelSettings,
    run_id: str = "",
    purpose: CallPurpose = "first",
    fallback: int = 0,
) -> ModelCall:
    """The row of the call of `request` that has just ended with `result`."""
    call = ModelCall(
        key=key,
        run_id=run_id,
        stage=request.stage,
        item_id=request.item_id,
        role=request.role,
        provider=model.provider,
        base_url=model.base_url,
        model=model.model,
        template_hash=request.template_hash,
        attempt=request.attempt,
        purpose=purpose,
        fallback=fallback,
        finished_at=format_time(datetime.now(UTC)),
    )
    if isinstance(result, ModelClientError):
        outcome: CallOutcome = "rejected" if isinstance(result, RequestRejectedError) else "failed"
        return call.model_copy(
            update={"outcome": outcome, "error": str(result), "provider_request_id": result.request_id}
        )
    return call.model_copy(
        update={
            "outcome": _OUTCOMES[result.finish_reason],
            "finish_reason": result.finish_reason,
            **result.model_dump(include=set(CallFigures.model_fields)),
        }
    )


def format_time(time: datetime) -> str:
    """A time as the ledger stores it: ISO 8601 in UTC, so that text order is time order."""
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
