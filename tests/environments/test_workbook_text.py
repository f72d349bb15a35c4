"""Workbooks as their cells: what a person typed comes back, and hostile content is none."""

from __future__ import annotations

import csv
import gzip
import html
import io

from hypothesis import given
from hypothesis import strategies as st

from taskloom.environments.evidence import unpacked_text as module
from taskloom.environments.evidence.application_files import render_workbook
from taskloom.environments.evidence.unpacked_text import unpacked_text

CELL = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\x85\u2028\u2029"),
    max_size=12,
)


def workbook(*sheets: tuple[str, list[list[str]]]) -> bytes:
    parts = []
    for name, rows in sheets:
        cells = "".join(
            f'<gnm:Cell Row="{row}" Col="{column}" ValueType="60">{html.escape(value)}</gnm:Cell>'
            for row, line in enumerate(rows)
            for column, value in enumerate(line)
            if value
        )
        named = f"<gnm:Name>{html.escape(name)}</gnm:Name><gnm:MaxCol>1</gnm:MaxCol>"
        parts.append(f'<gnm:Sheet HideGrid="0">{named}<gnm:Cells>{cells}</gnm:Cells></gnm:Sheet>')
    head = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<gnm:Workbook xmlns:gnm="http://www.gnumeric.org/v10.dtd">'
    )
    return f"{head}<gnm:Sheets>{''.join(parts)}</gnm:Sheets></gnm:Workbook>".encode()


def test_a_table_reads_as_the_csv_file_that_it_came_from() -> None:
    rows = [["region", "amount"], ["North", "120"], ["R&D, old", "=sum(B1:B2)"]]
    text = 'region,amount\nNorth,120\n"R&D, old",=sum(B1:B2)\n'
    content = workbook(("sales.csv", rows))
    assert unpacked_text(content) == unpacked_text(gzip.compress(content)) == ("workbook", text)


def test_several_sheets_follow_each_other_below_their_names() -> None:
    told = unpacked_text(workbook(("May", [["a"]]), ("R&D", [["", "b"]])))
    assert told == ("workbook", "[May]\na\n\n[R&D]\n,b\n")


@given(st.lists(st.lists(CELL, min_size=2, max_size=3), min_size=1, max_size=5))
def test_every_cell_comes_back(rows: list[list[str]]) -> None:
    _, text = unpacked_text(workbook(("one", rows))) or ("", "")
    read = list(csv.reader(io.StringIO(text)))
    for row, line in enumerate(rows):
        for column, value in enumerate(line):
            if value:
                assert read[row][column] == value


@given(st.binary(max_size=200), st.booleans())
def test_anything_else_is_no_workbook(content: bytes, packed: bool) -> None:
    assert render_workbook(content.decode(errors="replace")) is None
    assert not packed or unpacked_text(gzip.compress(content)[:-1]) is None


def test_a_cell_far_out_is_not_written_as_a_table() -> None:
    far = workbook(("one", [["a"]])).replace(b'Row="0"', b'Row="999999"').replace(b'Col="0"', b'Col="99"')
    assert unpacked_text(far) is None


def test_a_bomb_is_not_unpacked() -> None:
    bomb = workbook(("one", [["a"]])) + b" " * (module._MOST_BYTES + 1)
    assert unpacked_text(gzip.compress(bomb, 1)) is None
