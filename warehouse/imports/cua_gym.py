"""CUA-Gym: its table of tasks, `data/tasks.parquet`, or the same rows as JSON Lines.

A task is one subtask. The bundles of the archive, with setup and reward, are neither read nor run; the row
that is kept says where in the archive they are.
"""

import json
from pathlib import Path

from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.importing.episodes import Description, read_tasks
from taskloom.warehouse.importing.items import (
    ForeignModel,
    Item,
    Items,
    Records,
    Text,
    items_of,
    table_rows,
    unreadable,
)
from taskloom.warehouse.importing.json_reading import matching_files, parse_json

_ROWS = 1_000


class _Task(ForeignModel):
    instruction: Text
    app_type: str | None = None


def read(path: Path) -> Records:
    """The tasks of a table, or of the tables below a folder whose names begin with `tasks`."""
    files = matching_files(path, "tasks*.parquet", "tasks*.jsonl")
    items = (
        item
        for file, shown in files
        for item in (_rows(file, shown) if file.suffix == ".parquet" else items_of([(file, shown)]))
    )
    yield from read_tasks("cua_gym", items, lambda item: item.named("id"), _describe)


def _rows(file: Path, shown: str) -> Items:
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


def _describe(item: Item) -> Description:
    task = item.parsed(_Task)
    return Description(task.instruction, (task.app_type,) if task.app_type else ())
