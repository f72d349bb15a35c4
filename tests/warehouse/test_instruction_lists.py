"""What published instructions can be given as."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.importing.importing import instructions_in
from tests.warehouse import collection_layouts as collections
from tests.warehouse import foreign

ROWS = [{"id": "1", "instruction": "Sort the sheet."}, {"id": "2", "instruction": "Close it, please."}]
FOUND = ["Sort the sheet.", "Close it, please."]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("list.txt", "Sort the sheet.\nClose it, please.\n"),
        ("rows.jsonl", "\n".join(map(json.dumps, ROWS))),
        ("rows.json", json.dumps(ROWS)),
        ("texts.json", json.dumps(FOUND)),
        ("rows.csv", 'id,instruction\n1,Sort the sheet.\n2,"Close it, please.",too many,fields\n'),
        ("rows.tsv", "id\tinstruction\n1\tSort the sheet.\n2\tClose it, please.\n"),
    ],
)
def test_a_file_of_any_kind_gives_its_instructions(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)

    assert instructions_in(str(tmp_path / name)) == FOUND


def test_a_parquet_table_gives_its_instructions_and_another_column_where_it_is_named(tmp_path: Path) -> None:
    rows = [{**row, "question": f"Q{row['id']}", "picture": b"\xff"} for row in ROWS]
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")

    assert instructions_in(f"{tmp_path}/a.parquet") == FOUND
    assert instructions_in(f"{tmp_path}/a.parquet:question") == ["Q1", "Q2"]


def test_a_collection_gives_those_of_its_broken_items_too(tmp_path: Path) -> None:
    collections.cua_world(tmp_path)
    foreign.write(
        tmp_path, "environments/x_env/tasks/bad/task.json", {"description": "Nobody gave me an id."}
    )

    assert sorted(instructions_in(f"cua_world:{tmp_path}")) == [
        "Nobody gave me an id.",
        "Play a film in a loop.",
        "Put 10 and 20 into A1 and A2, and their sum into B1.",
    ]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", '{"question": "Sort it."}', "it has: question"),
        ("a.jsonl", "{", "line 1"),
        ("a.csv", "", "it has: nothing"),
        ("a.parquet", "no", "is not a Parquet file"),
        ("a.txt", b"\xff", "is not UTF-8"),
        ("b.txt", "", "cannot be read"),
    ],
)
def test_what_has_no_instructions_is_refused_in_words(
    tmp_path: Path, name: str, content: str | bytes, said: str
) -> None:
    (tmp_path / name.replace("b", "c")).write_bytes(
        content if isinstance(content, bytes) else content.encode()
    )

    with pytest.raises(ImportRefusedError, match=said):
        instructions_in(str(tmp_path / name))


def test_a_column_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,instruction\n1,Sort it.\n")
    (tmp_path / "a.txt").write_text("Sort it.\n")

    with pytest.raises(ImportRefusedError, match="'query'; it has: id, instruction"):
        instructions_in(f"{tmp_path}/a.csv:query")
    with pytest.raises(ImportRefusedError, match="line by line"):
        instructions_in(f"{tmp_path}/a.txt:query")
