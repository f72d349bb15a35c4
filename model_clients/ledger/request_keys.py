"""The identity of a call: a hash of everything that determines its reply."""

import hashlib
import json
from collections.abc import Sequence

from pydantic import JsonValue

from taskloom.model_clients.messages import Message, ModelRequest, TextContent
from taskloom.model_clients.settings import ModelSettings
from taskloom.taskgraph.records.computer_use import ComputerTurn

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
