"""Rows of databases: called by their primary key, compared although evidence holds the newest only, edited
with their number."""

import sqlite3
from pathlib import Path

from taskloom.environments.evidence.application_files import render_database
from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.reading import read
from taskloom.taskgraph.records.evidence import Evidence
from tests.evaluators_api.state.evidence import evidence


def _database(folder: Path, *statements: str, limit: int = 64_000) -> Evidence:
    path = folder / f"{len(list(folder.iterdir()))}.db"
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    rendered = render_database(path, limit)
    assert rendered is not None
    text, complete = rendered
    state = evidence({"app.db": text})
    return state.model_copy(
        update={"files": (state.files[0].model_copy(update={"truncated": not complete}),)}
    )


NOTES = "CREATE TABLE note (body TEXT, id INTEGER PRIMARY KEY)"


def _rows(first: int, last: int) -> list[str]:
    return [f"INSERT INTO note VALUES ('text {number}', {number})" for number in range(first, last)]


def _found(start: Evidence, end: Evidence) -> list[tuple[str, tuple[str, ...]]]:
    return [(item.kind, item.address) for item in effects(start, end, {})]


def test_rows_are_called_by_their_primary_key_and_a_table_without_rows_is_there(tmp_path: Path) -> None:
    state = _database(
        tmp_path,
        NOTES,
        *_rows(1, 3),
        "CREATE TABLE empty (a)",
        "CREATE TABLE pair (a, b, PRIMARY KEY (a, b))",
        "INSERT INTO pair VALUES (1, 'x')",
    )
    name, tree = read("app.db", state.files[0].text or "")
    assert name == "database"
    row = tree.at(("note", "rows", "2", "body"))
    assert row is not None and row.value == "text 2"
    assert tree.at(("empty", "columns", "a")) is not None
    assert tree.at(("pair", "rows", "1, x")) is not None


def test_a_new_table_is_an_effect(tmp_path: Path) -> None:
    found = _found(_database(tmp_path, NOTES), _database(tmp_path, NOTES, "CREATE TABLE visits (id)"))
    assert found[0] == ("added", ("visits",))


def test_a_new_row_in_a_large_table_is_the_only_effect(tmp_path: Path) -> None:
    start = _database(tmp_path, NOTES, *_rows(1, 301))
    end = _database(tmp_path, NOTES, *_rows(1, 302))
    assert start.files[0].truncated
    assert [item for item in _found(start, end) if len(item[1]) == 3] == [("added", ("note", "rows", "301"))]
    assert all(address[:3] == ("note", "rows", "301") for _, address in _found(start, end))


def test_a_row_that_is_lost_from_a_large_table_is_the_only_effect(tmp_path: Path) -> None:
    start = _database(tmp_path, NOTES, *_rows(1, 301))
    end = _database(tmp_path, NOTES, *_rows(1, 301), "DELETE FROM note WHERE id = 290")
    assert _found(start, end) == [("removed", ("note", "rows", "290"))]


def test_rows_lost_out_of_sight_show_in_the_number_of_rows(tmp_path: Path) -> None:
    start = _database(tmp_path, NOTES, *_rows(1, 301))
    end = _database(tmp_path, NOTES, *_rows(1, 301), "DELETE FROM note WHERE id < 50")
    assert _found(start, end) == [("changed", ("note", "count"))]


def test_a_change_behind_the_cut_of_a_long_value_shows(tmp_path: Path) -> None:
    start = _database(tmp_path, NOTES, f"INSERT INTO note VALUES ('{'x' * 5_000}a', 1)")
    end = _database(tmp_path, NOTES, f"INSERT INTO note VALUES ('{'x' * 5_000}b', 1)")
    assert _found(start, end) == [("changed", ("note", "rows", "1", "body"))]


def test_what_does_not_fit_is_left_out_by_whole_statements(tmp_path: Path) -> None:
    state = _database(
        tmp_path, NOTES, *_rows(1, 100), *(f"CREATE TABLE t{number} (a)" for number in range(60)), limit=1_500
    )
    assert state.files[0].truncated and len(state.files[0].text or "") <= 1_500
    assert read("app.db", state.files[0].text or "")[0] == "database"


def test_what_a_full_text_index_keeps_is_left_out_by_the_schema_and_no_name(tmp_path: Path) -> None:
    index = "CREATE VIRTUAL TABLE find USING fts5(body)"
    own = "CREATE TABLE words_content (id INTEGER PRIMARY KEY, body TEXT)"
    start = _database(tmp_path, index, own, "INSERT INTO words_content VALUES (1, 'kept')")
    tables = {child.name for child in read("app.db", start.files[0].text or "")[1].children}
    assert tables == {"find", "words_content"}
    end = _database(tmp_path, index, own)
    assert ("removed", ("words_content", "rows", "1")) in _found(start, end)
