from __future__ import annotations

import resource

import pytest
from fastapi.testclient import TestClient

from taskloom.warehouse.errors import QueryFailedError
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.pages.sql_page import run_query


def test_labels_with_numbers_are_drawn_as_bars(sampled: Warehouse) -> None:
    answer = run_query(sampled, "SELECT application, 2 * count(*) FROM subtasks GROUP BY 1 ORDER BY 1;")
    assert answer.chart is not None
    assert [(bar.label, bar.count, bar.share) for bar in answer.chart.bars] == [
        ("notes", 2, 1.0),
        ("sheets", 2, 1.0),
    ]


@pytest.mark.parametrize("sql", ["SELECT 'a', 'b'", "SELECT 1", "SELECT 1, 2, 3", "SELECT 'a', true"])
def test_other_answers_are_not_drawn(sampled: Warehouse, sql: str) -> None:
    assert run_query(sampled, sql).chart is None


def test_rows_beyond_the_limit_are_not_made(sampled: Warehouse) -> None:
    answer = run_query(sampled, "SELECT * FROM range(100000000000) -- all of them", max_rows=10)
    assert [row[0] for row in answer.rows] == list(range(10))
    assert answer.truncated


def test_the_order_asked_for_is_kept(sampled: Warehouse) -> None:
    answer = run_query(sampled, "FROM range(1000) AS t(n) SELECT n ORDER BY n DESC", max_rows=3)
    assert [row[0] for row in answer.rows] == [999, 998, 997]


def test_a_query_that_takes_too_long_is_given_up(sampled: Warehouse) -> None:
    with pytest.raises(QueryFailedError, match="longer than"):
        run_query(
            sampled,
            "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range % 7 = b.range % 5",
            max_seconds=0.2,
        )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT repeat('x', 2000000000)",
        pytest.param("SELECT length(repeat('x', 2000000000))", marks=pytest.mark.slow),
    ],
)
def test_a_query_that_takes_too_much_memory_is_stopped(sampled: Warehouse, sql: str) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    with pytest.raises(QueryFailedError, match=r"more than 1024 MB of memory.*query fewer"):
        run_query(sampled, sql)
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert after <= max(before, 1_000_000), "kilobytes that any process started here took at most"
    assert run_query(sampled, "SELECT 1").rows == ((1,),)


@pytest.mark.parametrize(
    "sql", ["DESCRIBE tasks", "SUMMARIZE subtasks", "VALUES (1)", "WITH a AS (SELECT 1) FROM a"]
)
def test_all_that_the_warehouse_answers_can_be_asked(sampled: Warehouse, sql: str) -> None:
    assert run_query(sampled, sql).rows


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM tasks",
        "SELECT 1) ; DELETE FROM tasks; SELECT * FROM (SELECT 1",
        "SELECT * FROM read_csv('/etc/passwd')",
        "ATTACH 'x.db'",
        "COPY tasks TO 'x.csv'",
        "SELECT nonsense",
    ],
)
def test_what_cannot_be_asked_is_said_on_the_page(pages: TestClient, sql: str) -> None:
    answer = pages.get("/sql", params={"q": sql})
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert "<h2>Answer</h2>" not in answer.text


def test_nested_values_and_nothing_are_shown(pages: TestClient) -> None:
    text = pages.get("/sql", params={"q": "SELECT NULL AS a, [1, 2] AS b, {'k': 'v'} AS c, true AS d"}).text
    for part in ('<td class="null">NULL</td>', "[1, 2]", "{&#34;k&#34;: &#34;v&#34;}", "True"):
        assert part in text


def test_long_values_are_cut_and_stay_text(pages: TestClient) -> None:
    query = "SELECT repeat('<i>&', 5000) AS a, [repeat('<b>', 5000)] AS b, repeat('y', 5000)::BLOB AS c"

    text = pages.get("/sql", params={"q": query}).text

    assert len(text) < len(pages.get("/sql").text) + 10_000
    assert "<i>" not in text and "<b>" not in text.partition("<h2>Answer</h2>")[2].partition("<h2>")[0]
    assert text.count("…</td>") == 3


def test_tables_are_described_without_marks_of_another_format(pages: TestClient) -> None:
    described = pages.get("/sql").text.partition("<h2>Tables</h2>")[2]

    assert "its steps are in trajectory_steps." in described
    assert "`" not in described
