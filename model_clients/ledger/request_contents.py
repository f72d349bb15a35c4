"""How the ledger stores a request: messages as JSON, with pictures and long texts stored separately, each
once."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass

from pydantic import JsonValue

from taskloom.model_clients.ledger.request_keys import canonical_json, plain_turns
from taskloom.model_clients.messages import ModelRequest, TextContent

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
