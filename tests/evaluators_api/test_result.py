"""Only exact results are results."""

import math
from collections import namedtuple

import pytest

from taskloom.evaluators_api.interpreter.sandbox import LONGEST_MESSAGE, parse_result

Three = namedtuple("Three", "success message progress")
Two = namedtuple("Two", "success message")
Odd = namedtuple("Odd", "ok message progress")


@pytest.mark.parametrize(
    ("returned", "success", "progress", "form"),
    [
        (Three(True, "done", 1.0), True, 1.0, "three_fields"),
        (Three(False, "half", 0.5), False, 0.5, "three_fields"),
        (Three(False, None, 0), False, 0.0, "three_fields"),
        (Three(True, "", None), True, 1.0, "two_fields"),
        (Two(False, "no"), False, 0.0, "two_fields"),
        ([True, "list"], True, 1.0, "two_fields"),
        ({"success": True}, True, 1.0, "two_fields"),
        ({"success": False, "message": "m", "progress": 0.25}, False, 0.25, "three_fields"),
        (True, True, 1.0, "bare_bool"),
        (False, False, 0.0, "bare_bool"),
        (Three(True, "", 1 + 1e-12), True, 1.0, "three_fields"),
    ],
)
def test_accepts(returned: object, success: bool, progress: float, form: str) -> None:
    parsed = parse_result(returned)
    assert parsed.outcome == "result" and parsed.result is not None
    assert (parsed.result.success, parsed.result.progress, parsed.result_form) == (success, progress, form)


@pytest.mark.parametrize(
    "returned",
    [
        None, 1, 0.5, "True", b"", (), (True,), (True, "", 1.0, 2), Three(1, "", 1.0), Three(True, 1, 1.0),
        Three(True, "", math.nan), Three(True, "", math.inf), Three(True, "", 1.1), Three(True, "", -0.1),
        Three(True, "", 10**400), Three(True, "", "1"), Odd(True, "", 1.0), {"ok": True}, {"success": True, "extra": 1},  # noqa: E501
        {True}, object(),
    ],
)  # fmt: skip
def test_refuses_with_a_reason(returned: object) -> None:
    parsed = parse_result(returned)
    assert (parsed.outcome, parsed.result) == ("bad_result", None) and parsed.message


def test_messages_are_cut_and_cleaned() -> None:
    parsed = parse_result((True, "\x00\ud800" + "a" * 10_000))
    assert parsed.result is not None
    assert len(parsed.result.message) <= LONGEST_MESSAGE
    parsed.result.model_dump_json()
