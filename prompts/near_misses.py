"""Replies that can mean only what was asked for, in a slightly other form, are read and not sent back; a
field that the reply's type does not have stays an error, because a model that names one expects it to count.
"""

import re
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel


def read_near_miss(model: type[BaseModel], value: object) -> object:
    """`value` in the form that `model` expects, as far as it can mean only that.

    A list or wrapper of one is opened, a single item becomes a list of one, null stands for what was left
    out, numbers stand for texts, letter case does not count where the words are given, and a mapping is a
    list of named values.
    """
    fields = model.model_fields
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], dict) and set(value[0]) & set(fields):
            value = value[0]
        else:
            first, field = next(iter(fields.items()))
            value = {first: value} if get_origin(field.annotation) is list else value
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and not set(value) & set(fields):
        (inner,) = value.values()
        value = read_near_miss(model, inner) if isinstance(inner, dict | list) else value
    return {
        name: _fitted(fields[name].annotation, item) if name in fields else item
        for name, item in (value.items() if isinstance(value, dict) else ())
        if item is not None or name not in fields or fields[name].is_required()
    }


def _fitted(annotation: Any, value: object) -> object:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal and isinstance(value, str):
        return next((word for word in arguments if _plain(str(word)) == _plain(value)), value)
    if origin is list:
        return _list_of(arguments[0], value)
    if annotation is str and isinstance(value, int | float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return read_near_miss(annotation, value)
    return value


def _list_of(item: Any, value: object) -> list[object]:
    if value is None:
        return []
    if _is_named(item):
        return _named_values(value)
    parts = value if isinstance(value, list) else [value]
    lists = get_origin(item) is list and _is_named(*get_args(item))
    if (
        lists
        and value
        and parts is value
        and all(isinstance(part, dict) and set(part) == _NAMED for part in parts)
    ):
        parts = [value]  # one set of values without the list around it
    return [_fitted(item, part) for part in parts]


def _named_values(value: object) -> list[object]:
    """Named values, also where they are the entries of one mapping or of several."""
    parts = value if isinstance(value, list) else [value]
    found: list[object] = []
    for part in parts:
        if isinstance(part, dict) and set(part) != _NAMED:
            found += [{"name": name, "value": _fitted(str, given)} for name, given in part.items()]
        else:
            found.append(part)
    return found


def _is_named(item: Any) -> bool:
    return isinstance(item, type) and issubclass(item, BaseModel) and set(item.model_fields) == _NAMED


def _plain(word: str) -> str:
    return re.sub(r"[\W_]+", "", word).casefold()


_NAMED = {"name", "value"}
