"""OpenAI's `computer` tool in the Responses protocol, and its predecessor `computer_use_preview`: calls and
their outputs are items of the input."""

import json
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from taskloom.model_clients.errors import RequestRejectedError
from taskloom.model_clients.messages import ModelReply, ModelRequest, first_picture_size
from taskloom.model_clients.settings import ModelSettings
from taskloom.model_clients.wire.openai_json import data_url, responses_body, responses_reply
from taskloom.model_clients.wire.sdk_calls import count_at, list_at, text_at, value_at
from taskloom.taskgraph.records.computer_use import (
    ComputerAction,
    ComputerCall,
    ComputerReply,
    ComputerTurn,
    SafetyCheck,
)
from taskloom.taskgraph.records.gestures import Button, Point

_PREVIEW = "computer_use_preview"
_NOTCH_PIXELS = 120
_BUTTONS: dict[str, Button] = {"left": "left", "right": "right", "wheel": "middle"}


def computer_body(
    settings: ModelSettings, request: ModelRequest, turns: Sequence[ComputerTurn]
) -> dict[str, JsonValue]:
    """The body that asks for the next calls, with all earlier turns."""
    body = responses_body(settings, request, "json")
    items = [item for turn in turns for item in _items(turn)]
    return (
        body
        | {
            "input": [*list_at(body, "input"), *items],
            "tools": [_tool(settings, request)],
            "include": ["reasoning.encrypted_content"],
        }
        | ({"truncation": "auto"} if settings.computer_tool == _PREVIEW else {})
    )


def computer_reply(settings: ModelSettings, body: JsonValue) -> ModelReply:
    """The reply, whose text is a `ComputerReply` as JSON."""
    reply = responses_reply(settings, body)
    if reply.finish_reason != "stop":
        return reply
    items = list_at(body, "output")
    calls = tuple(_parse_call(item) for item in items if text_at(item, "type") == "computer_call")
    content = ComputerReply(said=json.dumps(items), text=reply.text, calls=calls)
    return reply.model_copy(update={"text": content.model_dump_json()})


def _tool(settings: ModelSettings, request: ModelRequest) -> JsonValue:
    if settings.computer_tool in ("", "computer"):
        return {"type": "computer"}
    if settings.computer_tool != _PREVIEW:
        raise RequestRejectedError(
            f"computer_tool is {settings.computer_tool!r}; known for OpenAI: computer, {_PREVIEW}."
        )
    width, height = first_picture_size(request)
    return {"type": _PREVIEW, "display_width": width, "display_height": height, "environment": "browser"}


def _items(turn: ComputerTurn) -> Iterator[JsonValue]:
    yield from json.loads(turn.reply.said)
    for result in turn.results:
        output: dict[str, JsonValue] = {
            "type": "computer_call_output",
            "call_id": result.call_id,
            "output": {"type": "computer_screenshot", "image_url": data_url(result.screenshot.png)},
        }
        if result.acknowledged:
            output["acknowledged_safety_checks"] = [item.model_dump() for item in result.acknowledged]
        yield output
    problems = [result.problem for result in turn.results if result.problem]
    if problems:
        text = "\n".join(problems)
        yield {"role": "user", "content": [{"type": "input_text", "text": text}]}


def _parse_call(item: JsonValue) -> ComputerCall:
    actions = list_at(item, "actions") or [value_at(item, "action")]
    checks = tuple(
        SafetyCheck(id=text_at(check, "id"), code=text_at(check, "code"), message=text_at(check, "message"))
        for check in list_at(item, "pending_safety_checks")
    )
    return ComputerCall(
        call_id=text_at(item, "call_id"),
        actions=tuple(_parse_action(action) for action in actions),
        safety_checks=checks,
    )


def _parse_action(action: JsonValue) -> ComputerAction:
    keys = tuple(str(key) for key in list_at(action, "keys"))
    point = (_point(action),)
    match text_at(action, "type"):
        case "click":
            button = text_at(action, "button") or "left"
            if button not in _BUTTONS:
                return ComputerAction(kind="unknown", text=f"click with the button {button}")
            return ComputerAction(kind="click", path=point, button=_BUTTONS[button], keys=keys)
        case "double_click":
            return ComputerAction(kind="click", path=point, times=2, keys=keys)
        case "move":
            return ComputerAction(kind="move", path=point, keys=keys)
        case "drag":
            path = tuple(_point(place) for place in list_at(action, "path"))
            return ComputerAction(kind="drag", path=path, keys=keys)
        case "scroll":
            wheel = (_notches(action, "scroll_x"), -_notches(action, "scroll_y"))
            return ComputerAction(kind="scroll", path=point, wheel=wheel, keys=keys)
        case "type":
            return ComputerAction(kind="type", text=text_at(action, "text"))
        case "keypress":
            return ComputerAction(kind="press", keys=keys)
        case "wait":
            return ComputerAction(kind="wait", seconds=2)
        case "screenshot":
            return ComputerAction(kind="screenshot")
        case other:
            return ComputerAction(kind="unknown", text=other or "an action without a type")


def _point(place: JsonValue) -> Point:
    return count_at(place, "x"), count_at(place, "y")


def _notches(action: JsonValue, field: str) -> int:
    """Pixels converted to wheel notches, at least one in the same direction."""
    value = value_at(action, field)
    pixels = float(value) if isinstance(value, int | float) else 0.0
    notches = round(abs(pixels) / _NOTCH_PIXELS)
    return 0 if not pixels else (1 if pixels > 0 else -1) * max(1, notches)
