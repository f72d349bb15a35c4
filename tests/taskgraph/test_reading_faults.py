"""Faults of parsed JSON, as users read them."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import AfterValidator, BaseModel, ValidationError

from taskloom.taskgraph.reading.faults import describe_faults, form_error, json_kind, place_of, reason_of


def small(value: int) -> int:
    if value > 9:
        raise form_error(f"is {value}; it must be below 10")
    return value


class Sample(BaseModel):
    """Fields of each kind of fault."""

    count: Annotated[int, AfterValidator(small)]
    names: list[str] = []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "`count` is missing."),
        ({"count": 12}, "`count` is 12; it must be below 10."),
        ({"count": []}, "`count` must be a whole number, not a list."),
        ({"count": 1, "names": ["a", None]}, "`names[1]` must be text, not null."),
        ([], "The sample must be an object, not a list."),
        (
            {"count": 12, "names": 1},
            "`count` is 12; it must be below 10. `names` must be a list, not a number.",
        ),
        (
            {"names": [1, 2, 3]},
            "`count` is missing. `names[0]` must be text, not a number."
            " `names[1]` must be text, not a number. There is 1 more fault.",
        ),
    ],
)
def test_each_fault_is_a_sentence_with_place_value_and_what_is_allowed(given: object, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Sample.model_validate(given)
    assert describe_faults(caught.value, "The sample") == message
    first = caught.value.errors()[0]
    assert reason_of(first) in message
    assert place_of(first["loc"]) in message


def test_kinds_are_named_in_the_words_of_json() -> None:
    values: list[object] = [False, 0, "", (), {}]
    assert [json_kind(value) for value in values] == [
        "true or false",
        "a number",
        "text",
        "a list",
        "an object",
    ]
