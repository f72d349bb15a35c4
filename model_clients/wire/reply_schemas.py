"""JSON schemas for typed replies in the forms that providers accept, and the modes of requesting a reply."""

from collections.abc import Callable
from typing import Literal

from pydantic import JsonValue

from taskloom.model_clients.errors import ModelClientError

_DROPPED = frozenset({"title", "default", "discriminator", "examples", "required", "additionalProperties"})
_WORDS = frozenset({"title", "description"})
_NAMED_PARTS = frozenset({"properties", "$defs", "definitions"})
_LISTED_PARTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_UNSUPPORTED = frozenset({"prefixItems", "patternProperties"})
_LIMITS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_SIZES = ("minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems")


def wordless_schema(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The schema without titles and descriptions: prompts already describe each field in words, so these
    would be paid for twice.

    >>> wordless_schema({"title": "A", "type": "object", "properties": {"title": {"type": "string", "description": "x"}}})
    {'type': 'object', 'properties': {'title': {'type': 'string'}}}
    """  # noqa: E501

    def change(part: JsonValue) -> JsonValue:
        return wordless_schema(part) if isinstance(part, dict) else part

    return {name: _change(name, value, change) for name, value in schema.items() if name not in _WORDS}


def _change(name: str, value: JsonValue, change: Callable[[JsonValue], JsonValue]) -> JsonValue:
    """The value of a key in a schema, with `change` applied to the schemas in it."""
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
        return _strict_object(schema)
    except _TooOpenError:
        return None


class _TooOpenError(ModelClientError):
    pass


def _strict_object(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    others = schema.get("additionalProperties")
    open_object = schema.get("type") == "object" and (others is True or "properties" not in schema)
    if not schema or schema.keys() & _UNSUPPORTED or isinstance(others, dict) or open_object:
        raise _TooOpenError
    strict: dict[str, JsonValue] = {}
    limits: list[str] = []
    for name, value in schema.items():
        if name in (*_LIMITS, *_SIZES):
            limits.append(f"{name} {value}")
        elif name not in _DROPPED:
            strict["anyOf" if name == "oneOf" else name] = _change(name, value, _strict_part)
    if isinstance(strict.get("properties"), dict):
        strict["required"] = list(strict["properties"])  # type: ignore[arg-type]
        strict["additionalProperties"] = False
    if limits:
        description = strict.get("description")
        strict["description"] = (f"{description} " if description else "") + f"({', '.join(limits)})"
    if "$ref" in strict:
        if "$defs" in strict:
            raise _TooOpenError
        return {"$ref": strict["$ref"]}
    return strict


def _strict_part(value: JsonValue) -> JsonValue:
    if not isinstance(value, dict):
        raise _TooOpenError
    return _strict_object(value)


Mode = Literal["schema", "tool", "json"]
"""How a reply is requested: by JSON schema, as a tool call, or in plain words."""

NEXT_MODE: dict[Mode, Mode] = {"schema": "tool", "tool": "json"}
"""The mode to fall back to, from then on, if a server does not support one."""
