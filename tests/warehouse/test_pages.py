from __future__ import annotations

import re
import shutil
from pathlib import Path

import duckdb
import pytest

from taskloom.warehouse.storage import extensions
from taskloom.warehouse.store import Warehouse
from tests.warehouse.samples import records

DOCS = Path(__file__).parents[2] / "docs"
QUESTIONS = re.findall(r"^## (.+?)\n\n```sql\n(.+?)```", (DOCS / "sql-cookbook.md").read_text(), re.M | re.S)


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
        ("Which applications pass resources to which?", ["notes", "sheets", 1]),
        ("How many rounds does cross-verification take?", [1, 2]),
        ("What did a run cost, by stage?", ["exploration", 1, 0.01]),
    ],
)
def test_answers_are_right(sampled: Warehouse, question: str, first: list[object]) -> None:
    assert list(next(sampled.query(dict(QUESTIONS)[question]).rows())) == first


@pytest.mark.parametrize("moved", [False, True])
def test_the_documented_line_opens_the_same_data_in_plain_duckdb(
    filled_template: Path, tmp_path: Path, moved: bool
) -> None:
    lines = re.findall(r'duckdb -cmd "(.+?)"', (DOCS / "sql-cookbook.md").read_text())
    place = tmp_path / "warehouse"
    if moved:
        shutil.copytree(filled_template, place)
    else:
        with Warehouse(place) as made:
            made.write(records())
    connection = duckdb.connect(":memory:")
    for name in extensions.LOCAL:
        extensions.load(connection, name)

    connection.execute(lines[moved].replace("taskloom-data/warehouse/", f"{place}/"))

    assert connection.execute("SELECT task_id, applications FROM tasks").fetchall() == [
        ("task-1", ["notes", "sheets"])
    ]
    assert connection.execute("SELECT count(*) FROM task_edges").fetchall() == [(1,)]
    with pytest.raises(duckdb.Error, match="read-only"):
        connection.execute("DELETE FROM tasks")
