"""The smallest JSON that follows a schema, for answers when nobody scripted any."""

from __future__ import annotations

from pydantic import JsonValue

from taskloom.model_clients.wire.sdk_calls import list_at, text_at, value_at

_DEEPEST = 12


def example_of(schema: JsonValue, root: JsonValue = None, depth: int = 0) -> JsonValue:
    """A value that follows `schema`.

    >>> example_of({"type": "object", "properties": {"answer": {"type": "string"}}})
    {'answer': 'example'}
    """
    root = schema if root is None else root
    reference = text_at(schema, "$ref")
    if reference and depth < _DEEPEST:
        return example_of(value_at(root, *reference.removeprefix("#/").split("/")), root, depth + 1)
    if value_at(schema, "const") is not None:
        return value_at(schema, "const")
    for choice in (*list_at(schema, "enum"), *list_at(schema, "examples")):
        return choice
    alternatives = list_at(schema, "anyOf") or list_at(schema, "oneOf")
    if alternatives:
        return example_of(alternatives[0], root, depth + 1)
    properties = value_at(schema, "properties")
    if isinstance(properties, dict) and depth < _DEEPEST:
        return {name: example_of(part, root, depth + 1) for name, part in properties.items()}
    plain: dict[str, JsonValue] = {
        "string": "example",
        "integer": 1,
        "number": 1.0,
        "boolean": True,
        "null": None,
    }
    kind = text_at(schema, "type")
    if kind == "array":
        return (
            [example_of(value_at(schema, "items"), root, depth + 1)] if value_at(schema, "minItems") else []
        )
    return plain.get(kind, {})
