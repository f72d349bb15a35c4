"""JSON from people and programs, read strictly: nothing ambiguous, nothing that only Python takes for
JSON."""

import json

from pydantic import JsonValue

from taskloom.resources.errors import JsonInvalidError

_LONGEST_KEY_SHOWN = 80


def parse_json(text: str) -> JsonValue:
    """The value that `text` is.

    >>> parse_json('{"a": [1, null]}')
    {'a': [1, None]}

    Raises:
        JsonInvalidError: it is not JSON, holds a number such as NaN or one of thousands of digits, has a key
            twice in one object, of which one value would be lost, or is nested too deeply.
    """
    try:
        value: JsonValue = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise JsonInvalidError(f"is not JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise JsonInvalidError("is nested too deeply") from None
    except ValueError as error:
        raise JsonInvalidError(f"is not JSON: {error}") from None
    return value


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for key, value in pairs:
        if key in found:
            raise JsonInvalidError(
                f"is ambiguous: the key {key[:_LONGEST_KEY_SHOWN]!r} occurs twice in one object"
            )
        found[key] = value
    return found


def _refuse_constant(name: str) -> JsonValue:
    raise JsonInvalidError(f"is not JSON: {name} is not a JSON value")
