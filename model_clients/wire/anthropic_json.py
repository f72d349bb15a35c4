"""Anthropic's Messages protocol as JSON."""

import base64
import json

from pydantic import JsonValue

from taskloom.model_clients.errors import ConnectionLostError
from taskloom.model_clients.messages import Content, ModelReply, ModelRequest, TextContent
from taskloom.model_clients.settings import ModelSettings
from taskloom.model_clients.wire.openai_json import json_instruction, sampling
from taskloom.model_clients.wire.reply_schemas import Mode, strict_schema
from taskloom.model_clients.wire.sdk_calls import count_at, list_at, text_at, value_at
from taskloom.taskgraph.records.model_calls import FinishReason

USUAL_MAX_TOKENS = 8192
"""Longest reply if the settings set no limit; the protocol requires one."""

_FINISH: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


def messages_body(settings: ModelSettings, request: ModelRequest, mode: Mode) -> dict[str, JsonValue]:
    """The body of `POST /v1/messages`; the unchanging part comes first and is marked for the cache."""
    parameters = settings.parameters
    system: list[JsonValue] = []
    turns: list[JsonValue] = []
    for message in request.messages:
        parts: list[JsonValue] = [_part(content) for content in message.content]
        if message.role == "system":
            system.extend(parts)
        else:
            turns.append({"role": message.role, "content": parts})
    body: dict[str, JsonValue] = {
        "model": settings.model,
        "max_tokens": parameters.max_output_tokens or USUAL_MAX_TOKENS,
        "messages": turns,
    }
    output: dict[str, JsonValue] = {}
    if request.reply_schema is not None:
        strict = strict_schema(request.reply_schema)
        if mode == "schema" and strict is not None:
            output["format"] = {"type": "json_schema", "schema": strict}
        elif mode == "json":
            system.append({"type": "text", "text": json_instruction(request)})
        else:
            tool = {"name": request.reply_schema_name, "description": "Give your answer."}
            body["tools"] = [tool | {"input_schema": request.reply_schema}]
            body["tool_choice"] = {"type": "tool", "name": request.reply_schema_name}
    if parameters.reasoning_effort:
        output["effort"] = parameters.reasoning_effort
    if output:
        body["output_config"] = output
    if system:
        body["system"] = system
    return body | sampling(settings)


def messages_reply(settings: ModelSettings, body: JsonValue) -> ModelReply:
    """The reply in a body of the Messages protocol; a `ConnectionLostError` if it holds none."""
    if not isinstance(value_at(body, "content"), list):
        who = f"{settings.provider} {settings.model}"
        raise ConnectionLostError(f"{who} answered something that is not a message: {json.dumps(body)[:200]}")
    texts: list[str] = []
    for block in list_at(body, "content"):
        if text_at(block, "type") == "tool_use":
            texts.append(json.dumps(value_at(block, "input")))
        elif text_at(block, "type") == "text":
            texts.append(text_at(block, "text"))
    finish = _FINISH.get(text_at(body, "stop_reason"), "other")
    text = "".join(texts)
    if finish == "refusal" and not text:
        text = text_at(body, "stop_details", "explanation") or text_at(body, "stop_details", "category")
    cached = count_at(body, "usage", "cache_read_input_tokens")
    written = count_at(body, "usage", "cache_creation_input_tokens")
    return ModelReply(
        text=text,
        finish_reason=finish,
        input_tokens=count_at(body, "usage", "input_tokens") + cached + written,
        cached_input_tokens=cached,
        cache_write_tokens=written,
        output_tokens=count_at(body, "usage", "output_tokens"),
        reasoning_tokens=count_at(body, "usage", "output_tokens_details", "thinking_tokens"),
        answering_model=text_at(body, "model") or settings.model,
        provider_request_id=text_at(body, "id"),
    )


def _part(content: Content) -> dict[str, JsonValue]:
    if isinstance(content, TextContent):
        part: dict[str, JsonValue] = {"type": "text", "text": content.text}
        if content.cacheable:
            part["cache_control"] = {"type": "ephemeral"}
        return part
    return picture_block(content.image.png)


def picture_block(png: bytes) -> dict[str, JsonValue]:
    """A picture as a block of a message."""
    data = base64.b64encode(png).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
