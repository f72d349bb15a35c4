"""OpenAI's two protocols, Responses and Chat Completions, as JSON."""

import base64
import json

from pydantic import JsonValue

from taskloom.model_clients.errors import ConnectionLostError, ModelClientError
from taskloom.model_clients.messages import Message, ModelReply, ModelRequest, TextContent
from taskloom.model_clients.settings import ModelSettings
from taskloom.model_clients.wire.reply_schemas import Mode, strict_schema
from taskloom.model_clients.wire.sdk_calls import count_at, list_at, response_error, text_at, value_at
from taskloom.taskgraph.records.model_calls import FinishReason

_INCOMPLETE: dict[str, FinishReason] = {"max_output_tokens": "length", "content_filter": "content_filter"}
_FINISH: dict[str, FinishReason] = {
    "stop": "stop",
    "tool_calls": "stop",
    "function_call": "stop",
    "length": "length",
    "content_filter": "content_filter",
}
_FAILED_STATUS = {"rate_limit_exceeded": 429, "server_error": 500}


def responses_body(settings: ModelSettings, request: ModelRequest, mode: Mode) -> dict[str, JsonValue]:
    """The body of `POST /v1/responses`; the provider stores nothing."""
    parameters = settings.parameters
    body: dict[str, JsonValue] = {
        "model": settings.model,
        "input": [_responses_message(settings, message) for message in _messages(request, mode)],
        "store": False,
    }
    if request.reply_schema is not None and mode == "schema":
        body["text"] = {"format": {"type": "json_schema", **_named_schema(request)}}
    elif request.reply_schema is not None and mode == "tool":
        body["tools"] = [{"type": "function", **_named_schema(request, "parameters")}]
        body["tool_choice"] = {"type": "function", "name": request.reply_schema_name}
    if request.functions:
        body["tools"] = [{"type": "function", **function} for function in request.functions]
    if parameters.max_output_tokens is not None:
        body["max_output_tokens"] = parameters.max_output_tokens
    if parameters.reasoning_effort:
        body["reasoning"] = {"effort": parameters.reasoning_effort}
    if request.template_hash and not settings.base_url:
        body["prompt_cache_key"] = request.template_hash[:64]
    return body | sampling(settings)


def chat_body(settings: ModelSettings, request: ModelRequest, mode: Mode) -> dict[str, JsonValue]:
    """The body of `POST /v1/chat/completions`."""
    parameters = settings.parameters
    body: dict[str, JsonValue] = {
        "model": settings.model,
        "messages": [_chat_message(settings, message) for message in _messages(request, mode)],
    }
    if request.reply_schema is not None and mode == "schema":
        body["response_format"] = {"type": "json_schema", "json_schema": _named_schema(request)}
    elif request.reply_schema is not None and mode == "tool":
        body["tools"] = [{"type": "function", "function": _named_schema(request, "parameters")}]
        body["tool_choice"] = {"type": "function", "function": {"name": request.reply_schema_name}}
    if request.functions:
        body["tools"] = [{"type": "function", "function": function} for function in request.functions]
    if parameters.max_output_tokens is not None:
        # Compatible servers often know only the older name.
        body["max_tokens" if settings.base_url else "max_completion_tokens"] = parameters.max_output_tokens
    if parameters.reasoning_effort:
        body["reasoning_effort"] = parameters.reasoning_effort
    if parameters.seed is not None:
        body["seed"] = parameters.seed
    return body | sampling(settings)


def responses_reply(settings: ModelSettings, body: JsonValue) -> ModelReply:
    """The reply in a body of the Responses protocol; a `ModelClientError` if the call failed."""
    status = text_at(body, "status")
    if status == "failed" or value_at(body, "error"):
        code, message = text_at(body, "error", "code"), text_at(body, "error", "message")
        raise response_error(settings, _FAILED_STATUS.get(code, 400), code, message)
    if not isinstance(value_at(body, "output"), list):
        raise _no_reply_error(settings, body)
    texts: list[str] = []
    refusals: list[str] = []
    for item in list_at(body, "output"):
        if text_at(item, "type") == "function_call":
            texts.append(text_at(item, "arguments"))
        for content in list_at(item, "content"):
            texts.append(text_at(content, "text") if text_at(content, "type") == "output_text" else "")
            refusals.append(text_at(content, "refusal"))
    finish: FinishReason = "stop"
    if status == "incomplete":
        finish = _INCOMPLETE.get(text_at(body, "incomplete_details", "reason"), "other")
    return _reply(settings, body, "".join(texts), "".join(refusals), finish, "input", "output")


def chat_reply(settings: ModelSettings, body: JsonValue) -> ModelReply:
    """The reply in a body of the Chat Completions protocol; a `ModelClientError` if it holds none."""
    message = value_at(body, "choices", 0, "message")
    if not isinstance(message, dict):
        raise _no_reply_error(settings, body)
    text = text_at(message, "tool_calls", 0, "function", "arguments") or text_at(message, "content")
    finish = _FINISH.get(text_at(body, "choices", 0, "finish_reason"), "other")
    return _reply(settings, body, text, text_at(message, "refusal"), finish, "prompt", "completion")


def _reply(
    settings: ModelSettings,
    body: JsonValue,
    text: str,
    refusal: str,
    finish: FinishReason,
    input_name: str,
    output_name: str,
) -> ModelReply:
    """The reply, with the usage that the body names `<input_name>_tokens` and `<output_name>_tokens`."""
    usage = value_at(body, "usage")
    written = count_at(usage, "input_tokens_details", "cache_write_tokens") if input_name == "input" else 0
    return ModelReply(
        text=refusal or text,
        finish_reason="refusal" if refusal else finish,
        input_tokens=count_at(usage, f"{input_name}_tokens"),
        cached_input_tokens=count_at(usage, f"{input_name}_tokens_details", "cached_tokens"),
        cache_write_tokens=written,
        output_tokens=count_at(usage, f"{output_name}_tokens"),
        reasoning_tokens=count_at(usage, f"{output_name}_tokens_details", "reasoning_tokens"),
        answering_model=text_at(body, "model") or settings.model,
        provider_request_id=text_at(body, "id"),
    )


def spoken_reply(settings: ModelSettings, body: JsonValue) -> ModelReply:
    """The reply in a body of either protocol as one text: reasoning, words, and every function call as
    `<tool_call>{"name": …, "arguments": …}</tool_call>`, the way models write unparsed calls."""
    reply = either_reply(settings, body if isinstance(body, dict) else {})
    if reply.finish_reason in ("refusal", "content_filter"):
        return reply
    message = value_at(body, "choices", 0, "message")
    calls = [value_at(call, "function") for call in list_at(message, "tool_calls")]
    calls += [item for item in list_at(body, "output") if text_at(item, "type") == "function_call"]
    if message is None:
        parts = [part for item in list_at(body, "output") for part in list_at(item, "content")]
        words = "".join(text_at(part, "text") for part in parts if text_at(part, "type") == "output_text")
    else:
        words = text_at(message, "content")
    reasoning = text_at(message, "reasoning_content") or text_at(message, "reasoning")
    lines = [f"<think>{reasoning}</think>"] if reasoning else []
    lines += [words] if words else []
    for call in calls:
        fields = {"name": text_at(call, "name"), "arguments": _arguments(call)}
        lines.append(f"<tool_call>{json.dumps(fields, ensure_ascii=False)}</tool_call>")
    return reply.model_copy(update={"text": "\n".join(lines)})


def _arguments(call: JsonValue) -> JsonValue:
    """The arguments of a call, parsed if they are JSON, else unchanged."""
    arguments = value_at(call, "arguments")
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return arguments


def either_reply(settings: ModelSettings, body: dict[str, JsonValue]) -> ModelReply:
    """The reply in a body of either protocol."""
    read = chat_reply if isinstance(body.get("choices"), list) else responses_reply
    return read(settings, body)


def json_instruction(request: ModelRequest) -> str:
    """The instruction to answer in JSON, for a model without structured output."""
    return (
        "Answer with one JSON value that follows this JSON schema, and nothing before or after it:\n"
        + json.dumps(request.reply_schema)
    )


def _messages(request: ModelRequest, mode: Mode) -> tuple[Message, ...]:
    if mode != "json" or request.reply_schema is None:
        return request.messages
    instruction = Message(role="system", content=(TextContent(text=json_instruction(request)),))
    if request.messages and request.messages[0].role == "system":
        first = request.messages[0]
        joined = first.model_copy(update={"content": first.content + instruction.content})
        return (joined, *request.messages[1:])
    return (instruction, *request.messages)


def _named_schema(request: ModelRequest, field: str = "schema") -> dict[str, JsonValue]:
    strict = strict_schema(request.reply_schema or {})
    return {
        "name": request.reply_schema_name,
        field: strict if strict is not None else request.reply_schema,
        "strict": strict is not None,
    }


def _responses_message(settings: ModelSettings, message: Message) -> dict[str, JsonValue]:
    text_type = "output_text" if message.role == "assistant" else "input_text"
    parts: list[JsonValue] = []
    for content in message.content:
        if isinstance(content, TextContent):
            parts.append({"type": text_type, "text": content.text})
        else:
            url = data_url(content.image.png)
            parts.append({"type": "input_image", "image_url": url, "detail": settings.image_detail})
    return {"role": message.role, "content": parts}


def _chat_message(settings: ModelSettings, message: Message) -> dict[str, JsonValue]:
    if all(isinstance(content, TextContent) for content in message.content):
        texts = [content.text for content in message.content if isinstance(content, TextContent)]
        return {"role": message.role, "content": "\n\n".join(texts)}
    parts: list[JsonValue] = []
    for content in message.content:
        if isinstance(content, TextContent):
            parts.append({"type": "text", "text": content.text})
        else:
            url = data_url(content.image.png)
            parts.append({"type": "image_url", "image_url": {"url": url, "detail": settings.image_detail}})
    return {"role": message.role, "content": parts}


def sampling(settings: ModelSettings) -> dict[str, JsonValue]:
    """The sampling parameters, whose names all protocols share, and the extra fields, unchanged."""
    parameters = settings.parameters
    sampling: dict[str, JsonValue] = {}
    if parameters.temperature is not None:
        sampling["temperature"] = parameters.temperature
    if parameters.top_p is not None:
        sampling["top_p"] = parameters.top_p
    return sampling | parameters.extra


def data_url(png: bytes) -> str:
    """A PNG picture as a data URL."""
    return "data:image/png;base64," + base64.b64encode(png).decode()


def _no_reply_error(settings: ModelSettings, body: JsonValue) -> ModelClientError:
    who = f"{settings.provider} {settings.model}"
    return ConnectionLostError(f"{who} answered something that is not a reply: {json.dumps(body)[:200]}")
