"""Reads what generated code returned. Exact types only; else it is a bad result, never a failed subtask."""

import math
from collections.abc import Mapping

from pydantic_monty import MontyClassProxy

from taskloom.taskgraph.records.evaluation_function import EvalResult, Evaluation

LONGEST_MESSAGE = 4_000
"""Characters of a message that are kept."""
_FIELDS = ("success", "message", "progress")
_REMEDY = "return EvalResult(success, message, progress)"


def parse_result(returned: object) -> Evaluation:
    """The answer in `returned`, or what is wrong with it, worded for the Code LLM. Never raises.

    Accepted are a bare bool; and a tuple, list, dict, dataclass or plain object with `success` and `message`,
    with or without `progress`. `success` must be a bool, `message` a text or None, `progress` a finite number
    from 0 to 1.

    >>> parse_result((True, "done")).result_form, parse_result(False).result.progress
    ('two_fields', 0.0)
    >>> parse_result((1, "done")).message
    '`success` is of type int; it must be True or False'
    """
    if type(returned) is bool:
        result = EvalResult(success=returned, progress=float(returned))
        return Evaluation(outcome="result", result=result, result_form="bare_bool")
    fields = _fields(returned)
    if isinstance(fields, str):
        return _bad(fields)
    success, message, progress = fields
    if type(success) is not bool:
        return _bad(f"`success` is of type {_type_name(success)}; it must be True or False")
    if message is not None and type(message) is not str:
        return _bad(f"`message` is of type {_type_name(message)}; it must be a text")
    text = (message or "")[:LONGEST_MESSAGE].encode("utf-8", "replace").decode("utf-8").replace("\x00", "")
    if progress is None:
        result = EvalResult(success=success, message=text, progress=float(success))
        return Evaluation(outcome="result", result=result, result_form="two_fields")
    if type(progress) not in (int, float, bool) or not isinstance(progress, int | float):
        return _bad(f"`progress` is of type {_type_name(progress)}; it must be a number from 0 to 1")
    if abs(progress) > 1_000 or not math.isfinite(progress) or not -1e-9 <= progress <= 1 + 1e-9:
        return _bad("`progress` is outside of 0 to 1; it is the share of conditions that hold")
    share = min(1.0, max(0.0, round(float(progress), 6)))
    result = EvalResult(success=success, message=text, progress=share)
    return Evaluation(outcome="result", result=result, result_form="three_fields")


def _bad(message: str) -> Evaluation:
    return Evaluation(outcome="bad_result", message=message)


def _fields(returned: object) -> tuple[object, object, object] | str:
    if isinstance(returned, MontyClassProxy):
        returned = returned.attributes
    if isinstance(returned, Mapping):
        if "success" not in returned:
            return f"the result has no `success`; {_REMEDY}"
        unknown = sorted(str(key)[:40] for key in returned if key not in _FIELDS)
        if unknown:
            return f"the result has the unknown fields {', '.join(unknown[:5])}; {_REMEDY}"
        return returned["success"], returned.get("message"), returned.get("progress")
    if isinstance(returned, tuple | list):
        if len(returned) not in (2, 3):
            return f"the result has {len(returned)} fields; {_REMEDY}"
        names = getattr(returned, "_fields", None)
        if names is not None and tuple(names) != _FIELDS[: len(returned)]:
            shown = ", ".join(map(str, names))[:100]
            return f"the result's fields are {shown}; they must be success, message, progress"
        return returned[0], returned[1], returned[2] if len(returned) == 3 else None
    return f"the result is of type {_type_name(returned)}; {_REMEDY}"


def _type_name(value: object) -> str:
    return "nothing" if value is None else type(value).__name__
