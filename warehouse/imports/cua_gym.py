"""CUA-Gym: its table of tasks, `data/tasks.parquet`, or the same rows as JSON Lines.

A task is one subtask. The bundles of the archive, with setup and reward, are neither read nor run; the row
that is kept says where in the archive they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from taskloom.resources.record import Record
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.importing.episodes import Source, task_records
from taskloom.warehouse.importing.items import (
    BrokenItem,
    ForeignModel,
    Identifier,
    Item,
    Text,
    checked,
    line_items,
    table_rows,
    unreadable,
)
from taskloom.warehouse.importing.json_reading import parse_json

_ROWS = 1_000


class _Named(ForeignModel):
    id: Identifier


class _Task(_Named):
    instruction: Text
    app_type: str | None = None


def read(path: Path) -> Iterator[Record | BrokenItem]:
    """The tasks of a table, or of the tables of a folder with its subfolders whose names begin with `tasks`.

    Raises:
        ImportRefusedError: nothing is there.
    """
    inside = [*path.rglob("tasks*.parquet"), *path.rglob("tasks*.jsonl")] if path.is_dir() else [path]
    files = sorted(file for file in inside if file.is_file())
    if not files:
        raise ImportRefusedError(str(path), "", "holds no tasks*.parquet or tasks*.jsonl")
    yield from checked(_items(files, path), _records, _name)


def _items(files: list[Path], path: Path) -> Iterator[Item | BrokenItem]:
    for file in files:
        shown = file.relative_to(path).as_posix() if path.is_dir() else file.name
        yield from _rows(file, shown) if file.suffix == ".parquet" else line_items(file, shown)


def _rows(file: Path, shown: str) -> Iterator[Item | BrokenItem]:
    try:
        for number, row in enumerate(table_rows(file, shown, _ROWS)):
            place = f"[{number}]"
            text = json.dumps(row, default=str)
            try:
                yield Item(shown, parse_json(text, shown, place), place)
            except ImportRefusedError as error:
                yield unreadable(error, f"{shown}:{place}", text)
    except ImportRefusedError as error:
        yield unreadable(error, shown)


def _name(item: Item) -> str:
    return f"cua_gym:{item.parsed(_Named).id}"


def _records(item: Item) -> Iterator[Record]:
    task = item.parsed(_Task)
    yield from task_records(
        item,
        Source(
            task_id=_name(item),
            format="cua_gym",
            instruction=task.instruction,
            applications=(task.app_type,) if task.app_type else (),
        ),
    )
