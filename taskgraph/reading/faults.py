"""Validation errors of pydantic in terms of JSON: where, what is wrong, and what is allowed."""

from collections.abc import Mapping
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

_MAXIMUM_FAULTS = 3
_PREDICATE = "json_form"
_REQUIREMENTS: Final = {
    "string_type": "must be text",
    "bool_type": "must be true or false",
    **dict.fromkeys(("list_type", "tuple_type"), "must be a list"),
    **dict.fromkeys(("dict_type", "model_type"), "must be an object"),
    "int_type": "must be a whole number",
    "float_type": "must be a number",
}


def json_kind(value: object) -> str:
    """The type of a parsed JSON value, in terms of JSON.

    >>> [json_kind(value) for value in (None, True, 1.5, "a", [], {})]
    ['null', 'true or false', 'a number', 'text', 'a list', 'an object']
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "an object" if isinstance(value, Mapping) else "a list"


def form_error(predicate: str) -> PydanticCustomError:
    """An error for validators to raise; `predicate` says what is wrong, and follows the field's name.

    >>> form_error("is blank; an id is text").message()
    'is blank; an id is text'
    """
    return PydanticCustomError(_PREDICATE, "{predicate}", {"predicate": predicate})


def place_of(location: tuple[int | str, ...]) -> str:
    """The position of a field, in code notation.

    >>> place_of(("nodes", 0, "inputs", 2)), place_of(("edges", "a", "[key]"))
    ('nodes[0].inputs[2]', 'edges.a')
    """
    place = ""
    for part in location:
        if part != "[key]":
            place += f"[{part}]" if isinstance(part, int) else f"{'.' if place else ''}{part}"
    return place.encode(errors="backslashreplace").decode()


def reason_of(fault: ErrorDetails) -> str:
    """What is wrong with a field, worded to follow the field's name.

    >>> reason_of({"type": "list_type", "loc": ("a",), "msg": "Input should be a valid list", "input": "b"})
    'must be a list, not text'
    """
    kind = fault["type"]
    if kind == "missing":
        return "is missing"
    if kind in _REQUIREMENTS:
        return f"{_REQUIREMENTS[kind]}, not {json_kind(fault['input'])}"
    if kind in ("literal_error", "enum"):
        return f"must be {fault.get('ctx', {}).get('expected', '')}, not {fault['input']!r}"
    message = fault["msg"].removeprefix("Value error, ")
    return message if kind in ("value_error", _PREDICATE) else message[:1].lower() + message[1:]


def describe_faults(error: ValidationError, document: str) -> str:
    """The first faults in one line, a sentence each; `document` is the subject of those of no
    single field.

    >>> from pydantic import TypeAdapter
    >>> try:
    ...     TypeAdapter(dict[str, list[str]]).validate_python({"a": [1], "b": "c"})
    ... except ValidationError as error:
    ...     describe_faults(error, "The graph")
    '`a[0]` must be text, not a number. `b` must be a list, not text.'
    """
    faults = error.errors(include_url=False)
    lines = [_sentence(fault, document) for fault in faults[:_MAXIMUM_FAULTS]]
    if len(faults) > _MAXIMUM_FAULTS:
        more = len(faults) - _MAXIMUM_FAULTS
        lines.append(f"There are {more} more faults." if more > 1 else "There is 1 more fault.")
    return " ".join(lines)


def _sentence(fault: ErrorDetails, document: str) -> str:
    place, reason = place_of(fault["loc"]), reason_of(fault)
    if fault["type"] in ("missing", "literal_error", "enum", _PREDICATE, *_REQUIREMENTS):
        text = f"`{place}` {reason}" if place else f"{document} {reason}"
    else:
        text = f"`{place}`: {reason}" if place else reason
    return text if text.endswith((".", "?")) else f"{text}."
