"""JSON is read strictly, and what is refused says why."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.resources.errors import JsonInvalidError
from taskloom.resources.reading.json_text import parse_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(VALUES)
def test_what_is_written_is_read_back(value: object) -> None:
    assert parse_json(json.dumps(value)) == value


@given(st.text())
def test_any_other_text_is_one_clear_error(text: str) -> None:
    try:
        parse_json(text)
    except JsonInvalidError as error:
        assert error.of("a.json").startswith("a.json is ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x is not JSON: Expecting value (line 1)."),
        ('{"a": 1,\n b}', "x is not JSON: Expecting property name enclosed in double quotes (line 2)."),
        ('[{"a": 1, "a": 1}]', "x is ambiguous: the key 'a' occurs twice in one object."),
        ("[-Infinity]", "x is not JSON: -Infinity is not a JSON value."),
        ("[" * 100_000, "x is nested too deeply."),
    ],
)
def test_refusals_name_what_is_wrong_and_where(text: str, message: str) -> None:
    with pytest.raises(JsonInvalidError) as refused:
        parse_json(text)
    assert refused.value.of("x") == message


def test_numbers_of_thousands_of_digits_are_refused() -> None:
    with pytest.raises(JsonInvalidError, match="is not JSON"):
        parse_json("9" * 5000)


def test_control_characters_inside_of_texts_are_refused() -> None:
    with pytest.raises(JsonInvalidError, match="control character"):
        parse_json('"a\tb"')
