"""Prints results: a table for people, JSON or CSV for programs; data on standard output only."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

CELL_WIDTH = 60
"""Maximum characters in a cell on a terminal."""
_MIN_WIDTH = 8
"""Minimum readable column width on a terminal, in characters."""


def print_json(value: object) -> None:
    """Print a JSON value, indented."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; on a terminal, long cells are cut, and tables that are too wide become lists."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    terminal = sys.stdout.isatty()
    console = Console() if terminal else Console(width=100_000)
    if terminal and len(columns) * _MIN_WIDTH > console.width:
        _print_rows_as_lists(console, columns, rows)
        return
    table = Table(box=SIMPLE_HEAD, header_style="bold", show_edge=False, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=not terminal)
    for row in rows:
        table.add_row(*(_cell(value, cut=terminal) for value in row))
    console.print(table, markup=False)


def _print_rows_as_lists(console: Console, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    from rich.markup import escape
    from rich.table import Table

    for number, row in enumerate(rows, start=1):
        console.print(f"row {number}", style="bold", markup=False, highlight=False)
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for column, value in zip(columns, row, strict=True):
            table.add_row(escape(column), _cell(value, cut=True))
        console.print(table, markup=False)


def print_records(records: Sequence[Mapping[str, object]], as_json: bool) -> None:
    """Print objects with the same keys as a table, or as JSON."""
    if as_json:
        print_json(list(records))
    elif records:
        print_table(list(records[0]), [list(record.values()) for record in records])


def _cell(value: object, cut: bool) -> str:
    from rich.markup import escape

    if value is None:
        text = ""
    elif isinstance(value, float):
        text = f"{value:.4g}"
    elif isinstance(value, (list, dict)):
        text = json.dumps(value, ensure_ascii=False)
    else:
        text = str(value)
    text = " ".join(text.split("\n"))
    if cut and len(text) > CELL_WIDTH:
        text = text[: CELL_WIDTH - 1] + "…"
    return escape(text)
