"""The three protocols from the server's side: bodies in, bodies out."""

from __future__ import annotations

import json
import re
import uuid
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from taskloom.model_clients.wire.sdk_calls import count_at, list_at, text_at, value_at
from tests.servers.models.behaviour import WireCall
from tests.servers.models.computer_use import asks_for_computer, computer_items

_CHARACTERS_PER_TOKEN = 4
_TOOL_CALL = re.compile(r'<tool_call>{"name": "(\w+)", "arguments": (.*?)}</tool_call>', re.DOTALL)

Finish = Literal["stop", "length", "refusal", "content_filter"]
"""How an answer ends."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model says."""

    text: str
    """Its text."""
    finish: Finish = "stop"
    """How it ends."""


def read_call(path: str, body: dict[str, JsonValue]) -> WireCall | None:
    """The call in a request body, or None when the path is no model's."""
    if path.endswith("/responses"):
        return _read_responses(body)
    if path.endswith("/chat/completions"):
        return _read_chat(body)
    if path.endswith("/messages"):
        return _read_messages(body)
    return None


def write_answer(call: WireCall, answer: Answer) -> dict[str, JsonValue]:
    """The body that carries an answer in the call's protocol."""
    used = (_tokens(call), max(1, len(answer.text) // _CHARACTERS_PER_TOKEN))
    if call.protocol == "responses":
        return _responses_body(call, answer, used)
    if call.protocol == "chat_completions":
        return _chat_body(call, answer, used)
    return _messages_body(call, answer, used)


def write_error(protocol: str, status: int, code: str, message: str) -> dict[str, JsonValue]:
    """The body of an error in that protocol."""
    if protocol == "messages":
        kinds = {
            429: "rate_limit_error",
            529: "overloaded_error",
            401: "authentication_error",
            400: "invalid_request_error",
        }
        kind = code or kinds.get(status, "api_error")
        return {
            "type": "error",
            "error": {"type": kind, "message": message},
            "request_id": "req_" + uuid.uuid4().hex,
        }
    return {"error": {"message": message, "type": "server_error", "param": None, "code": code or None}}


def _read_responses(body: dict[str, JsonValue]) -> WireCall:
    schema = value_at(body, "text", "format", "schema")
    typed = value_at(body, "tool_choice") is not None
    tool = value_at(body, "tools", 0, "parameters") if typed else None
    return _call(
        "responses",
        body,
        list_at(body, "input"),
        [text_at(body, "instructions")],
        schema,
        tool,
        "max_output_tokens",
    )


def _read_chat(body: dict[str, JsonValue]) -> WireCall:
    schema = value_at(body, "response_format", "json_schema", "schema")
    typed = value_at(body, "tool_choice") is not None
    tool = value_at(body, "tools", 0, "function", "parameters") if typed else None
    limit = "max_completion_tokens" if "max_completion_tokens" in body else "max_tokens"
    return _call("chat_completions", body, list_at(body, "messages"), [], schema, tool, limit)


def _read_messages(body: dict[str, JsonValue]) -> WireCall:
    system = [text_at(part, "text") for part in list_at(body, "system")] or [text_at(body, "system")]
    schema = value_at(body, "output_config", "format", "schema")
    tool = value_at(body, "tools", 0, "input_schema")
    return _call("messages", body, list_at(body, "messages"), system, schema, tool, "max_tokens")


def _call(
    protocol: Literal["responses", "chat_completions", "messages"],
    body: dict[str, JsonValue],
    messages: list[JsonValue],
    system: list[str],
    schema: JsonValue,
    tool: JsonValue,
    limit: str,
) -> WireCall:
    turns: list[str] = []
    images = 0
    for message in messages:
        parts = list_at(message, "content")
        text = text_at(message, "content") or "".join(text_at(part, "text") for part in parts)
        images += sum("image" in text_at(part, "type") for part in parts)
        if text_at(message, "role") in ("system", "developer"):
            system.append(text)
        else:
            turns.append(text)
    return WireCall(
        protocol=protocol,
        model=text_at(body, "model"),
        system="\n".join(part for part in system if part),
        turns=tuple(turns),
        images=images,
        schema=schema if schema is not None else tool,
        typed_by="schema" if schema is not None else "tool" if tool is not None else "",
        max_tokens=count_at(body, limit),
        body=body,
    )


def _tokens(call: WireCall) -> int:
    return (len(call.system) + sum(map(len, call.turns))) // _CHARACTERS_PER_TOKEN + 1000 * call.images + 1


def _responses_body(call: WireCall, answer: Answer, used: tuple[int, int]) -> dict[str, JsonValue]:
    content: JsonValue
    if answer.finish == "refusal":
        content = {"type": "refusal", "refusal": answer.text}
    else:
        content = {"type": "output_text", "text": answer.text, "annotations": []}
    item: JsonValue = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [content],
    }
    if call.typed_by == "tool" and answer.finish != "refusal":
        item = {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "answer",
            "arguments": answer.text,
        }
    output = [item]
    if asks_for_computer(call) and answer.finish == "stop":
        output = computer_items(call, answer.text)
    elif list_at(call.body, "tools") and call.typed_by != "tool":
        output = [
            {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name, "arguments": arguments}
            for name, arguments in _TOOL_CALL.findall(answer.text)
        ]
    reasons: dict[str, JsonValue] = {"length": "max_output_tokens", "content_filter": "content_filter"}
    incomplete = answer.finish in reasons
    return {
        "id": "resp_" + uuid.uuid4().hex,
        "object": "response",
        "created_at": 0,
        "model": call.model,
        "status": "incomplete" if incomplete else "completed",
        "incomplete_details": {"reason": reasons[answer.finish]} if incomplete else None,
        "error": None,
        "output": output,
        "usage": {
            "input_tokens": used[0],
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": used[1],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": sum(used),
        },
    }


def _chat_body(call: WireCall, answer: Answer, used: tuple[int, int]) -> dict[str, JsonValue]:
    message: dict[str, JsonValue] = {"role": "assistant", "content": answer.text}
    finish: str = "stop" if answer.finish == "refusal" else answer.finish
    if answer.finish == "refusal":
        message = {"role": "assistant", "content": None, "refusal": answer.text}
    elif call.typed_by == "tool":
        function: JsonValue = {"name": "answer", "arguments": answer.text}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
        }
    elif list_at(call.body, "tools"):
        called: list[JsonValue] = [
            {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
            for name, arguments in _TOOL_CALL.findall(answer.text)
        ]
        words = _TOOL_CALL.sub("", answer.text).strip()
        message = {"role": "assistant", "content": words or None, "tool_calls": called}
    return {
        "id": "chatcmpl-" + uuid.uuid4().hex,
        "object": "chat.completion",
        "created": 0,
        "model": call.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {"prompt_tokens": used[0], "completion_tokens": used[1], "total_tokens": sum(used)},
    }


def _messages_body(call: WireCall, answer: Answer, used: tuple[int, int]) -> dict[str, JsonValue]:
    reasons = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal", "content_filter": "refusal"}
    block: JsonValue = {"type": "text", "text": answer.text}
    reason = reasons[answer.finish]
    if call.typed_by == "tool" and answer.finish == "stop":
        try:
            block = {"type": "tool_use", "id": "toolu_1", "name": "answer", "input": json.loads(answer.text)}
            reason = "tool_use"
        except ValueError:
            reason = "end_turn"
    content = [block]
    if asks_for_computer(call) and answer.finish == "stop":
        content = computer_items(call, answer.text)
        reason = "tool_use" if any(text_at(item, "type") == "tool_use" for item in content) else "end_turn"
    marked = any(value_at(part, "cache_control") for part in list_at(call.body, "system"))
    cached = len(call.system) // _CHARACTERS_PER_TOKEN if marked else 0
    return {
        "id": "msg_" + uuid.uuid4().hex,
        "type": "message",
        "role": "assistant",
        "model": call.model,
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": used[0] - cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": cached,
            "output_tokens": used[1],
        },
    }
