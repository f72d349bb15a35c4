from __future__ import annotations

import re
from pathlib import Path

import pytest

from warehouse.data_model_page import page
from warehouse.store import Warehouse

DOCS = Path(__file__).parents[2] / "docs"
QUESTIONS = re.findall(r"^## (.+?)\n\n```sql\n(.+?)```", (DOCS / "sql-cookbook.md").read_text(), re.M | re.S)


def test_the_data_model_page_is_current() -> None:
    assert (DOCS / "data-model.md").read_text() == page(), (
        "run: python -m warehouse.data_model_page > docs/data-model.md"
    )


def test_the_cookbook_answers_at_least_fifteen_questions() -> None:
    assert len(QUESTIONS) >= 15


@pytest.mark.parametrize(("question", "sql"), QUESTIONS, ids=[question for question, _ in QUESTIONS])
def test_every_question_of_the_cookbook_is_answered(sampled: Warehouse, question: str, sql: str) -> None:
    assert sampled.query(sql).columns


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What are the subtasks of a task, in order?", [1, "notes", "In notes, create 'a.csv'."]),
        ("Which resource categories link most subtasks?", ["csv_path", 1, 1]),
        ("Which applications hand resources to which?", ["notes", "sheets", 1]),
        ("How many rounds does cross-verification take?", [1, 2]),
        ("What did a run cost, by stage?", ["exploration", 1, 0.01]),
    ],
)
def test_answers_are_right(sampled: Warehouse, question: str, first: list[object]) -> None:
    assert list(next(sampled.query(dict(QUESTIONS)[question]).rows())) == first
