"""The computer tools of both protocols from the server's side, as strict about the conversation as the
providers are."""

from __future__ import annotations

import json

from pydantic import JsonValue

from taskloom.model_clients.wire.sdk_calls import list_at, text_at, value_at
from tests.servers.models.behaviour import WireCall

NEWEST = "computer_toolset_20260801"
TOOLS = ("computer", "computer_use_preview", NEWEST, "computer_20251124", "computer_20250124")


def asks_for_computer(call: WireCall) -> bool:
    """Whether the call offers a computer tool."""
    return any(text_at(tool, "type") in TOOLS for tool in list_at(call.body, "tools"))


def refusal_of(call: WireCall) -> str:
    """What a provider would refuse about the conversation so far; empty when nothing."""
    return _refusal_of_items(call) if call.protocol == "responses" else _refusal_of_messages(call)


def answered_calls(call: WireCall) -> int:
    """How many calls of the tool have been answered before."""
    return len(_calls(call))


def computer_items(call: WireCall, text: str) -> list[JsonValue]:
    """The items of an answer written as `{"say": words, "calls": [{"actions": […], "checks": […]}]}`, actions
    as on the wire."""
    said = json.loads(text)
    first = answered_calls(call)
    if call.protocol == "responses":
        items: list[JsonValue] = [
            {"type": "reasoning", "id": f"rs_{first}", "summary": [], "encrypted_content": "x"}
        ]
        for number, one in enumerate(said.get("calls", ()), first):
            actions = one["actions"]
            batch = {"action": actions[0]} if len(actions) == 1 else {"actions": actions}
            checks = one.get("checks", [])
            items.append(
                {
                    "type": "computer_call",
                    "id": f"cu_{number}",
                    "call_id": f"call_{number}",
                    "status": "completed",
                    "pending_safety_checks": checks,
                    **batch,
                }
            )
        content: JsonValue = [{"type": "output_text", "text": said.get("say", ""), "annotations": []}]
        words: JsonValue = {
            "type": "message",
            "id": f"msg_{first}",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
        return [*items, words] if said.get("say") else items
    blocks: list[JsonValue] = [{"type": "text", "text": said["say"]}] if said.get("say") else []
    actions = [action for one in said.get("calls", ()) for action in one["actions"]]
    for number, action in enumerate(actions, first):
        block: dict[str, JsonValue] = {"type": "tool_use", "id": f"toolu_{number}"}
        if text_at(call.body, "tools", 0, "type") == NEWEST:
            block |= {"toolset_name": "computer", **action}
        else:
            block |= {"name": "computer", "input": {"action": action["name"], **action["input"]}}
        blocks.append(block)
    return blocks


def _calls(call: WireCall) -> list[JsonValue]:
    if call.protocol == "responses":
        return [item for item in list_at(call.body, "input") if text_at(item, "type") == "computer_call"]
    blocks = [block for message in list_at(call.body, "messages") for block in list_at(message, "content")]
    return [block for block in blocks if text_at(block, "type") == "tool_use"]


def _refusal_of_items(call: WireCall) -> str:
    outputs = {
        text_at(item, "call_id"): item
        for item in list_at(call.body, "input")
        if text_at(item, "type") == "computer_call_output"
    }
    for made in _calls(call):
        name = text_at(made, "call_id")
        output = outputs.get(name)
        if output is None:
            return f"No tool output found for computer call {name}."
        if not text_at(output, "output", "image_url").startswith("data:image/png;base64,"):
            return f"{name}: the output holds no screenshot"
        pending = {text_at(check, "id") for check in list_at(made, "pending_safety_checks")}
        if pending - {text_at(check, "id") for check in list_at(output, "acknowledged_safety_checks")}:
            return f"Computer call {name} has pending safety checks that were not acknowledged."
    return "" if value_at(call.body, "store") is False else "store"


def _refusal_of_messages(call: WireCall) -> str:
    tool, messages = value_at(call.body, "tools", 0), list_at(call.body, "messages")
    named = "computer" if text_at(tool, "type") == NEWEST else ""
    if not named and not (value_at(tool, "display_width_px") and value_at(tool, "display_height_px")):
        return "tools.0: display_width_px and display_height_px are required"
    for message, following in zip(messages, [*messages[1:], None], strict=True):
        used = [
            text_at(block, "id")
            for block in list_at(message, "content")
            if text_at(block, "type") == "tool_use"
        ]
        results = [
            block for block in list_at(following, "content") if text_at(block, "type") == "tool_result"
        ]
        if used != [text_at(block, "tool_use_id") for block in results]:
            return "messages: `tool_use` ids were found without `tool_result` blocks immediately after"
        if any(text_at(block, "toolset_name") != named for block in results):
            return "tool_result: toolset_name must be that of the tool_use"
    return ""
