"""The cells of a workbook as comma-separated values, so that they can be checked as those of a CSV file."""

from __future__ import annotations

import csv
import html
import io
import re

_MOST_CELLS = 100_000
"""Places of a table that are written, empty ones too."""
_SHEET = re.compile(r"<gnm:Sheet [^>]*>.*?</gnm:Sheet>", re.DOTALL)
_NAME = re.compile(r"<gnm:Name>([^<]*)</gnm:Name>")
_CELL = re.compile(r"<gnm:Cell ([^>]*[^>/])>([^<]*)</gnm:Cell>")
_PLACE = re.compile(r'\b(Row|Col)="(\d{1,6})"')


def render_workbook(text: str) -> str | None:
    """One line per row of a workbook in Gnumeric's XML; formulas as they are written. None for anything else.

    The sheets of a workbook with several follow each other, each below a line with its name. Fonts, widths,
    views and the names of single sheets are left out.
    """
    if "<gnm:Workbook" not in text[:600]:
        return None
    sheets = [match.group() for match in _SHEET.finditer(text)]
    tables = [_table(sheet) for sheet in sheets]
    if any(table is None for table in tables):
        return None
    if len(sheets) < 2:
        return "".join(table or "" for table in tables)
    named = [_NAME.search(sheet) for sheet in sheets]
    names = [html.unescape(name.group(1)) if name else "" for name in named]
    return "\n".join(f"[{name}]\n{table}" for name, table in zip(names, tables, strict=True))


def _table(sheet: str) -> str | None:
    """The cells of a sheet as lines of equal length; None where there are too many."""
    cells: dict[tuple[int, int], str] = {}
    for match in _CELL.finditer(sheet):
        place = {name: int(number) for name, number in _PLACE.findall(match.group(1))}
        if len(place) == 2 and match.group(2):
            cells[place["Row"], place["Col"]] = html.unescape(match.group(2))
    rows, columns = (1 + max((place[axis] for place in cells), default=-1) for axis in (0, 1))
    if rows * columns > _MOST_CELLS:
        return None
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerows([cells.get((row, column), "") for column in range(columns)] for row in range(rows))
    return written.getvalue()
