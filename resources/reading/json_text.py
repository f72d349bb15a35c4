"""Reads JSON from people and programs strictly: nothing ambiguous, and nothing that only Python accepts."""

import json

from pydantic import JsonValue

from taskloom.resources.errors import JsonInvalidError

_LONGEST_KEY_SHOWN = 80


def parse_json(text: str) -> JsonValue:
    """The value of the JSON `text`.

    >>> parse_json('{"a": [1, null]}')
    {'a': [1, None]}

    Raises:
        JsonInvalidError: it is not JSON, contains a number such as NaN or one of thousands of digits, repeats
            a key in one object, which would lose a value, or is nested too deeply.
    """
    try:
        value: JsonValue = json.loads(text, object_pairs_hook=_build_object, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise JsonInvalidError(f"is not JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise JsonInvalidError("is nested too deeply") from None
    except ValueError as error:
        raise JsonInvalidError(f"is not JSON: {error}") from None
    return value


def _build_object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    values: dict[str, JsonValue] = {}
    for key, value in pairs:
        if key in values:
            raise JsonInvalidError(
                f"is ambiguous: the key {key[:_LONGEST_KEY_SHOWN]!r} occurs twice in one object"
            )
        values[key] = value
    return values


def _refuse_constant(name: str) -> JsonValue:
    raise JsonInvalidError(f"is not JSON: {name} is not a JSON value")
