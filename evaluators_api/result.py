"""Reads what generated code returned. Exact types only; anything else is a bad result, never a failed
subtask."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic_monty import MontyClassProxy

from taskloom.taskgraph.records.evaluation_function import EvalResult

ResultForm = Literal["three_fields", "two_fields", "bare_bool"]
"""How the function answered; the paper shows the first in C.3, the second and third in E.2."""
LONGEST_MESSAGE = 4_000
"""Characters of a message that are kept."""


@dataclass(frozen=True, slots=True)
class ParsedResult:
    """An answer and how it was given."""

    result: EvalResult
    """The answer."""
    form: ResultForm
    """How it was given."""


def parse_result(returned: object) -> ParsedResult | str:
    """The answer in `returned`, or what is wrong with it, worded for the Code LLM. Never raises.

    Accepted are a bare bool; and a tuple, list, dict, dataclass or plain object with `success` and `message`,
    with or without `progress`. `success` must be a bool, `message` a text or None, `progress` a finite number
    from 0 to 1.

    >>> parse_result((True, "done")).form, parse_result(False).result.progress
    ('two_fields', 0.0)
    >>> parse_result((1, "done"))
    '`success` is of type int; it must be True or False'
    """
    if type(returned) is bool:
        return ParsedResult(EvalResult(success=returned, progress=float(returned)), "bare_bool")
    fields = _fields(returned)
    if isinstance(fields, str):
        return fields
    success, message, progress = fields
    if type(success) is not bool:
        return f"`success` is of type {_type_name(success)}; it must be True or False"
    if message is not None and type(message) is not str:
        return f"`message` is of type {_type_name(message)}; it must be a text"
    text = (message or "")[:LONGEST_MESSAGE].encode("utf-8", "replace").decode("utf-8").replace("\x00", "")
    if progress is None:
        return ParsedResult(EvalResult(success=success, message=text, progress=float(success)), "two_fields")
    if type(progress) not in (int, float, bool) or not isinstance(progress, int | float):
        return f"`progress` is of type {_type_name(progress)}; it must be a number from 0 to 1"
    if abs(progress) > 1_000 or not math.isfinite(progress) or not -1e-9 <= progress <= 1 + 1e-9:
        return "`progress` is outside of 0 to 1; it is the share of conditions that hold"
    share = min(1.0, max(0.0, round(float(progress), 6)))
    return ParsedResult(EvalResult(success=success, message=text, progress=share), "three_fields")


def _fields(returned: object) -> tuple[object, object, object] | str:
    if isinstance(returned, MontyClassProxy):
        returned = returned.attributes
    if isinstance(returned, Mapping):
        if "success" not in returned:
            return "the result has no `success`; return EvalResult(success, message, progress)"
        unknown = sorted(str(key)[:40] for key in returned if key not in ("success", "message", "progress"))
        if unknown:
            return (
                f"the result has the unknown fields {', '.join(unknown[:5])}; return EvalResult(success,"
                " message, progress)"
            )
        return returned["success"], returned.get("message"), returned.get("progress")
    if isinstance(returned, tuple | list):
        if len(returned) not in (2, 3):
            return f"the result has {len(returned)} fields; return EvalResult(success, message, progress)"
        names = getattr(returned, "_fields", None)
        if names is not None and tuple(names) != ("success", "message", "progress")[: len(returned)]:
            return (
                f"the result's fields are {', '.join(map(str, names))[:100]}; they must be success, message,"
                " progress"
            )
        return returned[0], returned[1], returned[2] if len(returned) == 3 else None
    return f"the result is of type {_type_name(returned)}; return EvalResult(success, message, progress)"


def _type_name(value: object) -> str:
    return "nothing" if value is None else type(value).__name__
