"""Answers are right or wrong by rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.omnieval.answers import is_right, quoted_answer, says_impossible
from taskloom.taskgraph.records.task import AnswerMatch, Question


@pytest.mark.parametrize(
    ("match", "answers", "said", "right"),
    [
        ("exact", ("Mara Lind",), " mara  lind ", True),
        ("exact", ("Mara Lind",), "It is Mara Lind", False),
        ("exact", ("north", "the north"), "the North", True),
        ("includes", ("bread", "salt"), "Bread and salt.", True),
        ("includes", ("bread", "salt"), "Breadcrumbs and salt", False),
        ("value", ("1250.50",), "1,250.50 EUR", True),
        ("value", ("3",), "3.0", True),
        ("value", ("3",), "3 of 4", False),
        ("value", ("-3",), "3", False),
        ("exact", ("x",), "", False),
    ],
)
def test_the_rule_decides(match: AnswerMatch, answers: tuple[str, ...], said: str, right: bool) -> None:
    assert is_right(Question(text="?", answers=answers, match=match), said) is right


@given(st.integers(-(10**9), 10**9))
def test_a_number_is_its_own_value(number: int) -> None:
    assert is_right(Question(text="?", answers=(str(number),), match="value"), f"{number:,}")


@given(st.text())
def test_any_text_can_be_read(said: str) -> None:
    quoted_answer(said)
    says_impossible(said)
    is_right(Question(text="?", answers=("1",), match="value"), said)


def test_the_last_quoted_answer_counts() -> None:
    assert quoted_answer("‘‘‘Answer:4‘‘‘ no: ```Answer: 5 ```") == "5"
    assert says_impossible(quoted_answer("```Answer:N/A```"))
