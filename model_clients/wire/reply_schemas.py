"""JSON schemas for typed replies as providers accept them, and the mode in which a server takes them."""

from collections.abc import Callable
from typing import Literal

from pydantic import JsonValue

from taskloom.model_clients.errors import ModelClientError

_DROPPED = frozenset({"title", "default", "discriminator", "examples", "required", "additionalProperties"})
_WORDS = frozenset({"title", "description"})
_NAMED_PARTS = frozenset({"properties", "$defs", "definitions"})
_LISTED_PARTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_OPEN = frozenset({"prefixItems", "patternProperties"})
_LIMITS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_SIZES = ("minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems")


def wordless_schema(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The schema without titles and descriptions: prompts say in words what each field means, and are paid
    for once.

    >>> wordless_schema({"title": "A", "type": "object", "properties": {"title": {"type": "string", "description": "x"}}})
    {'type': 'object', 'properties': {'title': {'type': 'string'}}}
    """  # noqa: E501

    def change(part: JsonValue) -> JsonValue:
        return wordless_schema(part) if isinstance(part, dict) else part

    return {name: _inside(name, value, change) for name, value in schema.items() if name not in _WORDS}


def _inside(name: str, value: JsonValue, change: Callable[[JsonValue], JsonValue]) -> JsonValue:
    """The value under a key of a schema, with the schemas in it changed."""
    if name in _NAMED_PARTS and isinstance(value, dict):
        return {key: change(part) for key, part in value.items()}
    if name in _LISTED_PARTS and isinstance(value, list):
        return [change(part) for part in value]
    return change(value) if name in ("items", "additionalProperties") else value


def strict_schema(schema: dict[str, JsonValue]) -> dict[str, JsonValue] | None:
    """The schema in the strict form that providers can enforce; None if it cannot be expressed in that form.

    All fields are required, no others are allowed, and alternatives become `anyOf`. Limits that providers do
    not enforce move to the description, where the model can read them; the parser still checks them. Objects
    with arbitrary field names and fixed-length tuples have no strict form.
    """
    try:
        return _object(schema)
    except _TooOpenError:
        return None


class _TooOpenError(ModelClientError):
    pass


def _object(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    others = schema.get("additionalProperties")
    open_object = schema.get("type") == "object" and (others is True or "properties" not in schema)
    if not schema or schema.keys() & _OPEN or isinstance(others, dict) or open_object:
        raise _TooOpenError
    narrow: dict[str, JsonValue] = {}
    told: list[str] = []
    for name, value in schema.items():
        if name in (*_LIMITS, *_SIZES):
            told.append(f"{name} {value}")
        elif name not in _DROPPED:
            narrow["anyOf" if name == "oneOf" else name] = _inside(name, value, _part)
    if isinstance(narrow.get("properties"), dict):
        narrow["required"] = list(narrow["properties"])  # type: ignore[arg-type]
        narrow["additionalProperties"] = False
    if told:
        description = narrow.get("description")
        narrow["description"] = (f"{description} " if description else "") + f"({', '.join(told)})"
    if "$ref" in narrow:
        if "$defs" in narrow:
            raise _TooOpenError
        return {"$ref": narrow["$ref"]}
    return narrow


def _part(value: JsonValue) -> JsonValue:
    if not isinstance(value, dict):
        raise _TooOpenError
    return _object(value)


Mode = Literal["schema", "tool", "json"]
"""By JSON schema, as a tool call, or in plain words."""

NEXT_MODE: dict[Mode, Mode] = {"schema": "tool", "tool": "json"}
"""What to try, and to keep to, where a server does not support a mode."""
