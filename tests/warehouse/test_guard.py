from __future__ import annotations

from pathlib import Path

import pytest

from taskloom.warehouse.errors import QueryFailedError, QueryRefusedError
from taskloom.warehouse.store import Warehouse

LEAVING = [
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_parquet('data/*')",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM sqlite_scan('x.db', 't')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM tasks, read_blob('/etc/passwd')",
    "SELECT (SELECT content FROM read_text('/etc/passwd'))",
    "WITH secret AS (SELECT * FROM read_text('/etc/passwd')) SELECT * FROM secret",
    "SELECT * FROM __ducklake_metadata_taskloom.ducklake_snapshot",
    "SELECT * FROM ducklake_merge_adjacent_files('taskloom')",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM duckdb_settings()",
    "FROM pg_catalog.pg_settings",
    "FROM pg_settings",
    "FROM duckdb_databases",
    "FROM pragma_database_list",
    "SELECT current_setting('s3_secret_access_key')",
    "SELECT getenv('AWS_SECRET_ACCESS_KEY')",
    "SELECT * FROM postgres_query('__ducklake_metadata_taskloom', 'SELECT 1')",
    "CALL postgres_execute('__ducklake_metadata_taskloom', 'DROP TABLE ducklake_table')",
    "CREATE SECRET x (TYPE s3, KEY_ID 'a', SECRET 'b')",
    "ATTACH '/tmp/x.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "COPY tasks TO '/tmp/x.csv'",
    "COPY tasks FROM '/tmp/x.csv'",
    "EXPORT DATABASE '/tmp/x'",
    "SET enable_external_access = true",
    "PRAGMA database_list",
    "CALL ducklake_merge_adjacent_files('taskloom')",
]
CHANGING = [
    "DELETE FROM tasks",
    "INSERT INTO intents (intent_id) VALUES ('x')",
    "UPDATE tasks SET instruction = ''",
    "DROP TABLE tasks",
    "CREATE TABLE x AS SELECT 1",
    "CREATE TEMP TABLE x AS SELECT 1",
    "ALTER TABLE tasks ADD COLUMN x INTEGER",
    "BEGIN",
    "SELECT 1; DELETE FROM tasks",
    "EXPLAIN ANALYZE DELETE FROM tasks",
]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    place = tmp_path_factory.mktemp("guard") / "warehouse"
    Warehouse(place).close()
    return Warehouse(place, read_only=True)


@pytest.mark.parametrize("sql", LEAVING)
def test_a_query_cannot_leave_the_warehouse(asked: Warehouse, sql: str) -> None:
    with pytest.raises((QueryRefusedError, QueryFailedError)):
        asked.query(sql)


@pytest.mark.parametrize("sql", CHANGING)
def test_a_query_cannot_change_the_warehouse(asked: Warehouse, sql: str) -> None:
    with pytest.raises(QueryRefusedError):
        asked.query(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM tasks",
        "FROM tasks SELECT task_id",
        "WITH few AS (SELECT * FROM tasks LIMIT 1) SELECT * FROM few",
        "VALUES (1)",
        "DESCRIBE tasks",
        "SUMMARIZE intents",
        "SHOW TABLES",
        "SELECT unnest([1, 2])",
        "SELECT * FROM range(3)",
        "SELECT task_id FROM tasks UNION ALL SELECT 'x';",
    ],
)
def test_ordinary_questions_are_answered(asked: Warehouse, sql: str) -> None:
    assert asked.query(sql).columns


def test_python_variables_are_no_tables(asked: Warehouse) -> None:
    intruder = {"a": [1]}
    assert intruder
    with pytest.raises(QueryFailedError):
        asked.query("SELECT * FROM intruder")


def test_a_refusal_names_the_function_and_what_is_admitted(asked: Warehouse) -> None:
    with pytest.raises(QueryRefusedError, match=r"read_text.*unnest"):
        asked.query("SELECT * FROM read_text('/etc/passwd')")


def test_a_query_that_takes_too_long_is_stopped(asked: Warehouse) -> None:
    with pytest.raises(QueryFailedError, match="longer than"):
        asked.stream("SELECT count(*) FROM range(1000000000000) AS a(x) WHERE sqrt(x) < 0", list, (), 0.2)


def test_nothing_is_written_beside_the_data(asked: Warehouse, tmp_path: Path) -> None:
    with pytest.raises((QueryRefusedError, QueryFailedError)):
        asked.query(f"COPY (SELECT 1) TO '{tmp_path}/x.csv'")
    assert not list(tmp_path.iterdir())
