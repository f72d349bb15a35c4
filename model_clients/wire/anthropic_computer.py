"""Anthropic's computer tools in the Messages protocol: every action is its own `tool_use` block.

With `computer_toolset_20260801`, the block's name is the action; the older tools are called `computer`, take
the action in their input, need the size of the pictures, and are in beta.
"""

import json
from collections.abc import Sequence

from pydantic import JsonValue

from taskloom.model_clients.errors import RequestRejectedError
from taskloom.model_clients.messages import ModelReply, ModelRequest, first_picture_size
from taskloom.model_clients.settings import ModelSettings
from taskloom.model_clients.wire.anthropic_json import messages_body, messages_reply, picture_block
from taskloom.model_clients.wire.sdk_calls import list_at, text_at, value_at
from taskloom.taskgraph.records.computer_use import (
    ComputerAction,
    ComputerCall,
    ComputerReply,
    ComputerResult,
    ComputerTurn,
)
from taskloom.taskgraph.records.gestures import Button, Point

TOOLSET = "computer"
"""Name of the toolset, repeated in results."""
_NEWEST = "computer_toolset_20260801"
_BETAS = {
    "computer_20251124": "computer-use-2025-11-24",
    "computer_20250124": "computer-use-2025-01-24",
}
_DISABLED_ACTIONS = ("cursor_position",)
_CLICKS: dict[str, tuple[Button, int]] = {
    "left_click": ("left", 1),
    "right_click": ("right", 1),
    "middle_click": ("middle", 1),
    "double_click": ("left", 2),
    "triple_click": ("left", 3),
}
_SCROLL_DIRECTIONS = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}
_SHOWN_LATER = "Done; a later result shows the screen."


def computer_body(
    settings: ModelSettings, request: ModelRequest, turns: Sequence[ComputerTurn]
) -> dict[str, JsonValue]:
    """The body that asks for the next actions, with all earlier turns, cached up to the last result. A
    picture that several actions of one turn share is sent once, with the last one that was carried out."""
    name = settings.computer_tool or _NEWEST
    newest = name == _NEWEST
    body = messages_body(settings, request, "json")
    messages = list_at(body, "messages")
    for turn in turns:
        messages.append({"role": "assistant", "content": json.loads(turn.reply.said)})
        results: list[JsonValue] = []
        for index, result in enumerate(turn.results, start=1):
            later = [item.screenshot for item in turn.results[index:] if not item.problem]
            results.append(_result_block(result, newest, shown=result.screenshot not in later))
        messages.append({"role": "user", "content": results})
    blocks = list_at(messages[-1], "content") if messages else []
    if blocks and isinstance(blocks[-1], dict):
        blocks[-1]["cache_control"] = {"type": "ephemeral"}
    return body | {"messages": messages, "tools": [_tool(name, request)]}


def computer_headers(settings: ModelSettings) -> dict[str, str]:
    """Headers that the older tools need; a `RequestRejectedError` for an unknown tool."""
    name = settings.computer_tool or _NEWEST
    if name != _NEWEST and name not in _BETAS:
        raise RequestRejectedError(
            f"computer_tool is {name!r}; known for Anthropic: {', '.join((_NEWEST, *_BETAS))}."
        )
    return {"anthropic-beta": _BETAS[name]} if name in _BETAS else {}


def computer_reply(settings: ModelSettings, body: JsonValue) -> ModelReply:
    """The reply, whose text is a `ComputerReply` as JSON."""
    reply = messages_reply(settings, body)
    if reply.finish_reason != "stop":
        return reply
    blocks = list_at(body, "content")
    text = "".join(text_at(block, "text") for block in blocks if text_at(block, "type") == "text")
    calls = tuple(_parse_call(block) for block in blocks if text_at(block, "type") == "tool_use")
    content = ComputerReply(said=json.dumps(blocks), text=text, calls=calls)
    return reply.model_copy(update={"text": content.model_dump_json()})


def _tool(name: str, request: ModelRequest) -> JsonValue:
    if name == _NEWEST:
        return {"type": name, "configs": {member: {"enabled": False} for member in _DISABLED_ACTIONS}}
    width, height = first_picture_size(request)
    tool: dict[str, JsonValue] = {
        "type": name,
        "name": TOOLSET,
        "display_width_px": width,
        "display_height_px": height,
    }
    return tool | ({"enable_zoom": True} if name == "computer_20251124" else {})


def _result_block(result: ComputerResult, newest: bool, *, shown: bool) -> JsonValue:
    content: list[JsonValue] = [picture_block(result.screenshot.png)]
    if result.problem or not shown:
        content = [{"type": "text", "text": result.problem or _SHOWN_LATER}]
    block: dict[str, JsonValue] = {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": content,
        "is_error": bool(result.problem),
    }
    return block | ({"toolset_name": TOOLSET} if newest else {})


def _parse_call(block: JsonValue) -> ComputerCall:
    fields = value_at(block, "input")
    is_older = text_at(block, "name") == TOOLSET and not text_at(block, "toolset_name")
    action = _parse_action(text_at(fields, "action") if is_older else text_at(block, "name"), fields)
    return ComputerCall(call_id=text_at(block, "id"), actions=(action,))


def _parse_action(name: str, fields: JsonValue) -> ComputerAction:
    point = _points(fields, "coordinate")
    modifiers = tuple(part for part in text_at(fields, "text").split("+") if part)
    if name in _CLICKS:
        button, times = _CLICKS[name]
        return ComputerAction(kind="click", path=point, button=button, times=times, keys=modifiers)
    match name:
        case "mouse_move":
            return ComputerAction(kind="move", path=point)
        case "left_click_drag":
            path = (*_points(fields, "start_coordinate"), *point)
            return ComputerAction(kind="drag", path=path, keys=modifiers)
        case "scroll":
            right, up = _SCROLL_DIRECTIONS.get(text_at(fields, "scroll_direction"), (0, 0))
            amount = int(_number(fields, "scroll_amount", 1))
            wheel = (right * amount, up * amount)
            return ComputerAction(kind="scroll", path=point, wheel=wheel, keys=modifiers)
        case "type":
            return ComputerAction(kind="type", text=text_at(fields, "text"))
        case "key":
            return ComputerAction(kind="press", keys=_chord(fields), times=int(_number(fields, "repeat", 1)))
        case "hold_key":
            return ComputerAction(kind="hold", keys=_chord(fields), seconds=_number(fields, "duration", 1))
        case "wait":
            return ComputerAction(kind="wait", seconds=_number(fields, "duration", 1))
        case "left_mouse_down":
            return ComputerAction(kind="button_down", path=point)
        case "left_mouse_up":
            return ComputerAction(kind="button_up", path=point)
        case "screenshot":
            return ComputerAction(kind="screenshot")
        case "zoom":
            return ComputerAction(kind="zoom", path=_points(fields, "region", count=2))
        case other:
            return ComputerAction(kind="unknown", text=other)


def _chord(fields: JsonValue) -> tuple[str, ...]:
    """The keys of a chord such as `ctrl+s`; a plus alone or at the end is a key."""
    text = text_at(fields, "text")
    if text.endswith("+"):
        return (*(part for part in text[:-1].split("+") if part), "+")
    return tuple(text.split("+"))


def _points(fields: JsonValue, field: str, count: int = 1) -> tuple[Point, ...]:
    numbers = [int(item) for item in list_at(fields, field) if isinstance(item, int | float)]
    return tuple(zip(numbers[::2], numbers[1::2], strict=True)) if len(numbers) == 2 * count else ()


def _number(fields: JsonValue, field: str, default: float) -> float:
    value = value_at(fields, field)
    return float(value) if isinstance(value, int | float) else default
