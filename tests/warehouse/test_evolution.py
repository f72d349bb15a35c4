from __future__ import annotations

import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from taskloom.taskgraph.records.task import Intent, Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.errors import WarehouseTooNewError
from taskloom.warehouse.queries import named_queries
from taskloom.warehouse.records import ImportedItem
from taskloom.warehouse.schema import SCHEMA_VERSION, TABLES
from taskloom.warehouse.storage import database, evolution
from taskloom.warehouse.storage.locations import parse_location
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.views import views

STORED = Path(__file__).parent / "stored"
*_EARLIER, _LAST = sorted(STORED.glob("schema_*.zip"))
EVERY_EARLIER_SCHEMA = pytest.mark.parametrize(
    "sample",
    [*(pytest.param(path, marks=pytest.mark.slow) for path in _EARLIER), _LAST],
    ids=lambda path: path.stem,
)


@EVERY_EARLIER_SCHEMA
def test_a_warehouse_of_every_earlier_schema_is_brought_up_to_date(tmp_path: Path, sample: Path) -> None:
    with zipfile.ZipFile(sample) as packed:
        packed.extractall(tmp_path / "old")

    with Warehouse(tmp_path / "old") as opened:
        assert opened.count(ImportedItem) == 0
        assert next(opened.read(Task)).graph.pairs
        assert len(next(opened.read(Trajectory, pictures=True)).steps) == 6
        opened.write([Intent(intent_id="new", text="x", subtask_ids=())])
        rows = opened.query("SELECT max(version) FROM warehouse_schema").scalar()
        opened.publish("second")
        _computes_columns(opened)
    with Warehouse(tmp_path / "old", version="first") as first:
        assert first.count(Intent) == 1
        _reads_like_the_present(first)

    assert rows == SCHEMA_VERSION


def _reads_like_the_present(old: Warehouse) -> None:
    assert next(old.read(Task)).graph.pairs
    for table in TABLES:
        assert set(table.arrow.names) <= set(old.query(f"SELECT * FROM {table.name}").columns)
    for view in views():
        assert set(old.query(f"SELECT * FROM {view.name}").columns) == set(view.columns)
    _computes_columns(old)
    for name, query in named_queries().items():
        assert old.query(query.sql, query.bind({"id": "task-1"} if name == "task" else {})).columns


def _computes_columns(opened: Warehouse) -> None:
    (row,) = opened.query("SELECT applications, links, words FROM tasks").as_dicts()
    assert row["applications"] == ["notes", "sheets"]
    assert row["links"] == [
        {"written_in": "notes", "resource_category": "csv_path", "read_in": "sheets", "times": 1}
    ]
    assert {"'a.csv',", "chart", "report"} <= set(str(row["words"]).split())


@EVERY_EARLIER_SCHEMA
def test_an_older_warehouse_can_be_read_without_changing_it(tmp_path: Path, sample: Path) -> None:
    with zipfile.ZipFile(sample) as packed:
        packed.extractall(tmp_path / "old")
    before = (tmp_path / "old" / "catalog.sqlite").read_bytes()

    with Warehouse(tmp_path / "old", read_only=True) as opened:
        _reads_like_the_present(opened)

    assert (tmp_path / "old" / "catalog.sqlite").read_bytes() == before


def test_a_sample_of_every_schema_before_the_present_one_is_kept() -> None:
    kept = {int(path.stem.removeprefix("schema_")) for path in STORED.glob("schema_*.zip")}

    assert kept == set(range(1, SCHEMA_VERSION))


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    Warehouse(tmp_path / "w").close()
    with Warehouse(tmp_path / "w") as opened:
        assert opened.query("SELECT count(*) FROM warehouse_schema").scalar() == 1


def test_a_later_schema_is_refused(tmp_path: Path) -> None:
    with Warehouse(tmp_path / "w") as opened:
        opened.change(
            lambda connection: connection.execute(
                f"INSERT INTO warehouse_schema VALUES ({SCHEMA_VERSION + 1}, 'x', now()::TIMESTAMP)"
            )
        )

    with pytest.raises(WarehouseTooNewError, match="later taskloom"):
        Warehouse(tmp_path / "w")


def test_missing_columns_and_nested_fields_are_added(tmp_path: Path) -> None:
    Warehouse(tmp_path / "w").close()
    connection = database.connect_writer(parse_location(tmp_path / "w"))
    connection.execute("DROP TABLE intents")
    connection.execute("CREATE TABLE intents (intent_id VARCHAR, text VARCHAR)")
    connection.execute("INSERT INTO intents VALUES ('old', 'kept')")
    connection.execute("DELETE FROM warehouse_schema")
    connection.execute("INSERT INTO warehouse_schema VALUES (1, 'old', now()::TIMESTAMP)")
    connection.close()

    with Warehouse(tmp_path / "w") as opened:
        assert opened.query("SELECT text, scenario FROM intents").as_dicts() == [
            {"text": "kept", "scenario": None}
        ]


def test_nested_fields_are_added_through_lists(tmp_path: Path) -> None:
    Warehouse(tmp_path / "w").close()
    connection = database.connect_writer(parse_location(tmp_path / "w"))
    connection.execute("DROP TABLE subtasks")
    connection.execute("CREATE TABLE subtasks (subtask_id VARCHAR, inputs STRUCT(category VARCHAR)[])")
    connection.execute("INSERT INTO subtasks VALUES ('old', [{'category': 'pdf_path'}])")
    connection.execute("DELETE FROM warehouse_schema")
    connection.execute("INSERT INTO warehouse_schema VALUES (1, 'old', now()::TIMESTAMP)")
    connection.close()

    for read_only in (True, False, True):
        with Warehouse(tmp_path / "w", read_only=read_only) as opened:
            (row,) = opened.query("SELECT inputs, origin FROM subtasks").as_dicts()
            found = {"category": "pdf_path", "parameter": None, "consumed": None}
            assert row == {"inputs": [found], "origin": None}


def test_nothing_of_a_failed_change_of_schema_stays(tmp_path: Path) -> None:
    Warehouse(tmp_path / "w").close()
    connection = database.connect_writer(parse_location(tmp_path / "w"))
    before = connection.execute("SELECT count(*) FROM duckdb_tables() WHERE NOT internal").fetchall()
    connection.execute("DROP VIEW funnel")
    connection.execute("CREATE TABLE funnel (a INTEGER)")

    with pytest.raises(duckdb.Error):
        evolution.bring_up_to_date(connection)

    assert (
        connection.execute("SELECT count(*) FROM duckdb_tables() WHERE NOT internal").fetchall()[0][0]
        == before[0][0] + 1
    )


def test_tables_without_rows_have_statistics_that_grow_into_those_of_their_rows(tmp_path: Path) -> None:
    """DuckLake asks the catalogue for each column of a table that has none."""
    with Warehouse(tmp_path) as opened:
        with closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as catalog:
            tables = catalog.execute("SELECT count(*) FROM ducklake_table").fetchall()
            assert catalog.execute("SELECT count(*) FROM ducklake_table_stats").fetchall() == tables
        opened.write([Intent(intent_id=name, text=f"do {name}", subtask_ids=()) for name in ("b", "a", "c")])
        found = "SELECT min(intent_id), max(intent_id), count(*), count(scenario IS NULL) FROM intents"
        assert list(opened.query(found).rows()) == [("a", "c", 3, 3)]
    with closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as catalog:
        kept = catalog.execute(
            "SELECT record_count, min_value, max_value, contains_null FROM ducklake_table_stats"
            " JOIN ducklake_table_column_stats USING (table_id)"
            " JOIN ducklake_column USING (table_id, column_id) JOIN ducklake_table USING (table_id)"
            " WHERE table_name = 'intents' AND column_name = 'intent_id'"
        ).fetchall()
    assert kept == [(3, "a", "c", 0)]


def test_rows_of_the_same_commit_are_found_whatever_the_statistics_say(tmp_path: Path) -> None:
    with Warehouse(tmp_path) as opened:

        def put(connection: duckdb.DuckDBPyConnection) -> list[tuple[object, ...]]:
            connection.execute("INSERT INTO version_tags (tag, version) VALUES ('t', NULL)")
            return connection.execute("SELECT tag FROM version_tags WHERE version IS NULL").fetchall()

        assert opened.change(put) == [("t",)]
        assert opened.query("SELECT tag FROM version_tags WHERE version IS NULL").scalar() == "t"
