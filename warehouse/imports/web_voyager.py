"""WebVoyager: lines with a question about a live website (`web_name`, `id`, `ques`, `web`).

A task is one subtask on that website. Its reference answers (`reference_answer.json`) are a list of their
own, which is not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from taskloom.resources.record import Record
from taskloom.warehouse.importing.episodes import Description, read_tasks, website_name
from taskloom.warehouse.importing.items import BrokenItem, ForeignModel, Item, Text, items_of
from taskloom.warehouse.importing.json_reading import collection_files


class _Task(ForeignModel):
    ques: Text
    web: Text
    web_name: str = ""


def read(path: Path) -> Iterator[Record | BrokenItem]:
    """The tasks of a file, or of the JSON Lines of a folder (of its JSON where it has none).

    Raises:
        ImportRefusedError: nothing is there.
    """
    items = items_of(collection_files(path, lines_first=True))
    yield from read_tasks("web_voyager", items, lambda item: item.named("id"), _describe)


def _describe(item: Item) -> Description:
    task = item.parsed(_Task)
    return Description(task.ques, (task.web_name.strip() or website_name(task.web),))
