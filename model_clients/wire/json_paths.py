"""Reads values from foreign JSON, in which anything may be missing or have the wrong type."""

from pydantic import JsonValue


def value_at(body: JsonValue, *path: str | int) -> JsonValue:
    """The value at `path`, or None if the path does not exist.

    >>> value_at({"usage": {"details": [{"tokens": 3}]}}, "usage", "details", 0, "tokens")
    3
    >>> value_at({"usage": None}, "usage", "details") is None
    True
    """
    here = body
    for step in path:
        if isinstance(here, dict) and isinstance(step, str):
            here = here.get(step)
        elif isinstance(here, list) and isinstance(step, int) and -len(here) <= step < len(here):
            here = here[step]
        else:
            return None
    return here


def text_at(body: JsonValue, *path: str | int) -> str:
    """The text at `path`, or an empty string."""
    value = value_at(body, *path)
    return value if isinstance(value, str) else ""


def count_at(body: JsonValue, *path: str | int) -> int:
    """The count at `path`, or zero."""
    value = value_at(body, *path)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else 0


def list_at(body: JsonValue, *path: str | int) -> list[JsonValue]:
    """The list at `path`, or an empty list."""
    value = value_at(body, *path)
    return value if isinstance(value, list) else []
