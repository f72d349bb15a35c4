"""WebVoyager: lines with a question about a live website (`web_name`, `id`, `ques`, `web`).

A task is one subtask on that website. Its reference answers (`reference_answer.json`) are a list of their
own, which is not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from taskloom.resources.record import Record
from taskloom.warehouse.importing.episodes import Source, task_records, website_name
from taskloom.warehouse.importing.items import (
    BrokenItem,
    ForeignModel,
    Identifier,
    Item,
    Text,
    checked,
    listed_items,
)
from taskloom.warehouse.importing.json_reading import json_files


class _Named(ForeignModel):
    id: Identifier


class _Task(_Named):
    ques: Text
    web: Text
    web_name: str = ""


def read(path: Path) -> Iterator[Record | BrokenItem]:
    """The tasks of a file, or of the JSON Lines of a folder (of its JSON where it has none).

    Raises:
        ImportRefusedError: nothing is there.
    """
    root = path if path.is_dir() else path.parent
    files = json_files(path, lines_first=True)
    yield from checked(
        listed_items((file, file.relative_to(root).as_posix()) for file in files), _records, _name
    )


def _name(item: Item) -> str:
    return f"web_voyager:{item.parsed(_Named).id}"


def _records(item: Item) -> Iterator[Record]:
    task = item.parsed(_Task)
    yield from task_records(
        item,
        Source(
            task_id=_name(item),
            format="web_voyager",
            instruction=task.ques,
            applications=(task.web_name.strip() or website_name(task.web),),
        ),
    )
