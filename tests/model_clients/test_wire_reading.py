"""Small readers of what others write: headers, schemas, replies, texts in fences."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from taskloom.model_clients.conversation import parse_reply
from taskloom.model_clients.errors import ReplyInvalidError
from taskloom.model_clients.rate_reports import read_rate_report
from taskloom.model_clients.wire.reply_schemas import strict_schema, wordless_schema
from taskloom.resources.record import Record
from tests.model_clients.requests import Verdict
from tests.servers.models.examples import example_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "12"}, 12),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:30 GMT"}, 30),
        ({"retry-after": "2026-01-01T00:00:05Z"}, 5),
        ({"retry-after": "1m20s"}, 80),
        ({"retry-after": "35ms"}, 0.035),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, 0),
        ({}, None),
    ],
)
def test_reads_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert read_rate_report(headers, NOW).retry_after_seconds == seconds


def test_reads_the_tightest_of_anthropics_token_limits() -> None:
    report = read_rate_report(
        {
            "anthropic-ratelimit-input-tokens-limit": "50000",
            "anthropic-ratelimit-input-tokens-remaining": "40000",
            "anthropic-ratelimit-output-tokens-limit": "10000",
            "anthropic-ratelimit-output-tokens-remaining": "200",
        },
        NOW,
    )
    assert (report.tokens.per_minute, report.tokens.remaining) == (10000, 200)
    assert report.requests.per_minute is None


@given(st.dictionaries(st.sampled_from(["retry-after", "x-ratelimit-limit-requests"]), st.text(max_size=30)))
def test_no_header_can_break_the_reading(headers: dict[str, str]) -> None:
    read_rate_report(headers)


class Click(Record):
    operation: Literal["click"] = "click"
    label: str = Field(min_length=1)


class Type(Record):
    operation: Literal["type"] = "type"
    keys: str
    times: int = Field(default=1, ge=1, le=9)


class Plan(Record):
    steps: tuple[Annotated[Click | Type, Field(discriminator="operation")], ...]
    note: str | None = None


def test_the_strict_form_requires_every_field_and_keeps_limits_as_words() -> None:
    schema = strict_schema(Plan.model_json_schema())
    assert schema is not None
    text = str(schema)
    assert schema["required"] == ["steps", "note"]
    assert schema["additionalProperties"] is False
    assert "oneOf" not in text
    assert "'discriminator'" not in text
    assert "'minLength':" not in text
    assert "(minLength 1)" in text


def test_schemas_say_nothing_that_prompts_say_in_words() -> None:
    class Note(Record):
        """A note."""

        title: str = Field(description="What it is called.", max_length=9)
        description: list[Verdict] = Field(default_factory=list, description="Notes below.")
        verdict: Verdict
        """Judged below."""

    whole, lean = Note.model_json_schema(), wordless_schema(Note.model_json_schema())
    for words in ("A note.", "What it is called.", "Judged below."):
        assert words in str(whole) and words not in str(lean)
    assert list(lean["properties"]) == ["title", "description", "verdict"]  # type: ignore[arg-type]
    assert "(maxLength 9)" in str(strict_schema(lean))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object"},
        {"type": "array", "prefixItems": [{"type": "string"}]},
        {},
    ],
)
def test_what_cannot_be_enforced_has_no_strict_form(schema: dict[str, object]) -> None:
    assert strict_schema(schema) is None  # type: ignore[arg-type]


def test_an_example_follows_its_schema() -> None:
    Plan.model_validate(example_of(Plan.model_json_schema()))


@pytest.mark.parametrize(
    "text", ['{"answer": "x"}', '```json\n{"answer": "x"}\n```', '  ```\n{"answer": "x"}```  \n']
)
def test_reads_json_with_or_without_a_fence(text: str) -> None:
    assert parse_reply(text, Verdict).answer == "x"


@given(st.text(max_size=200))
def test_any_other_text_is_one_kind_of_error(text: str) -> None:
    with pytest.raises(ReplyInvalidError):
        parse_reply("x" + text, Verdict)


def test_a_bomb_of_brackets_is_refused() -> None:
    with pytest.raises(ReplyInvalidError):
        parse_reply("[" * 200_000, Verdict)


@pytest.mark.parametrize(
    "text",
    [
        'Here is my answer: {"answer": "x"}',
        '{"answer": "x"}\n\nLet me know if you need more.',
        'I first thought of {"other": 1}, but:\n```json\n{"answer": "x"}\n```\nDone {really}.',
        'It is {"answer": "x"}. To repeat: {"answer":"x"}',
        'Braces { everywhere {"answer": "x"}',
    ],
    ids=["lead sentence", "afterthought", "another object", "said twice", "stray brace"],
)
def test_takes_the_one_fitting_object_out_of_other_text(text: str) -> None:
    assert parse_reply(text, Verdict).answer == "x"


def test_two_different_answers_are_none() -> None:
    with pytest.raises(ReplyInvalidError, match="2 different answers"):
        parse_reply('{"answer": "x"} or rather {"answer": "y"}', Verdict)


def test_an_object_in_other_text_must_follow_the_schema_too() -> None:
    with pytest.raises(ReplyInvalidError, match="extra: Extra inputs are not permitted"):
        parse_reply('Sure: {"answer": "x", "extra": 1}', Verdict)


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=40))
def test_any_text_around_an_answer_without_braces_of_its_own_is_left_out(
    before: str, after: str, answer: str
) -> None:
    around = [part.replace("{", "(") for part in (before, after)]
    written = Verdict(answer=answer).model_dump_json()
    assert parse_reply(f"{around[0]}\n{written}\n{around[1]}", Verdict).answer == answer


@given(st.text(alphabet='{}[]":,ax \\', max_size=120))
def test_no_text_makes_it_fail_otherwise(text: str) -> None:
    try:
        parse_reply(text, Verdict)
    except ReplyInvalidError as error:
        assert str(error)
