"""Tables as CSV or TSV: rows named by the first column if it identifies them, fields by the first row."""

import re

from taskloom.evaluators_api.errors import StateUnreadableError
from taskloom.evaluators_api.state.nodes import Node, Span, group, leaf, table_rows
from taskloom.taskgraph.records.evidence import ARCHIVE_HEADER

SUFFIXES: frozenset[str] = frozenset([".csv", ".tsv", ".gnumeric"])
"""Includes workbooks, which evidence describes by their cells."""
HEADER = "header"
"""Name of the group with the names of the columns."""
ROWS = "rows"
"""Name of the group with the rows."""
_Cell = tuple[str, Span]
_Row = tuple[list[_Cell], Span]


def recognises(text: str) -> bool:
    """Whether the text is the table of an archive's members; others are recognised by their suffixes."""
    return text.startswith(ARCHIVE_HEADER)


def parse(text: str) -> Node:
    """`('header', column)` and `('rows', row, column)`; rows named by their first field if it is unique."""
    first_line = text.lstrip("\r\n").partition("\n")[0]
    rows = _rows(text, max(",;\t", key=lambda mark: (first_line.count(mark), mark == ",")))
    if not rows:
        raise StateUnreadableError("no rows")
    columns, body = table_rows(
        [value for value, _ in rows[0][0]],
        [(cells, (cells[0][1][0], cells[-1][1][1]), extent) for cells, extent in rows[1:]],
    )
    names, (_, begin) = rows[0]
    named_columns = zip(columns, names, strict=False)
    header_fields = tuple(leaf(column, "field", span, value) for column, (value, span) in named_columns)
    header = group(HEADER, "schema", (names[0][1][0], names[-1][1][1]), header_fields)
    return group("", "field", (0, len(text)), (header, group(ROWS, "field", (begin, len(text)), body)))


def _rows(text: str, delimiter: str) -> list[_Row]:
    mark = re.escape(delimiter)
    cell = re.compile(rf'(?:"((?:[^"]|"")*)"|([^{mark}\r\n]*))({mark}|\r\n|\r|\n|\Z)')
    rows: list[_Row] = []
    cells: list[_Cell] = []
    position = start = 0
    while position < len(text) or cells:
        match = cell.match(text, position)
        if match is None:
            raise StateUnreadableError(f"unterminated quoted field at {position}")
        quoted = match.group(1)
        span = (match.start(), match.start(3))
        cells.append((quoted.replace('""', '"') if quoted is not None else match.group(2), span))
        position = match.end()
        if match.group(3) != delimiter:
            if len(cells) > 1 or cells[0][0] or quoted is not None:
                rows.append((cells, (start, position)))
            cells, start = [], position
    return rows
