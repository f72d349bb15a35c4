"""WebVoyager: lines with a question about a live website (`web_name`, `id`, `ques`, `web`).

A task is one subtask on that website. Its reference answers (`reference_answer.json`) are a list of their
own, which is not read.
"""

from pathlib import Path

from taskloom.warehouse.importing.episodes import Description, read_tasks, website_name
from taskloom.warehouse.importing.items import ForeignModel, Item, Records, Text, items_of
from taskloom.warehouse.importing.json_reading import collection_files


class _Task(ForeignModel):
    ques: Text
    web: Text
    web_name: str = ""


def read(path: Path) -> Records:
    """The tasks of a file, or of the JSON Lines of a folder (of its JSON where it has none)."""
    items = items_of(collection_files(path, lines_first=True))
    yield from read_tasks("web_voyager", items, lambda item: item.named("id"), _describe)


def _describe(item: Item) -> Description:
    task = item.parsed(_Task)
    return Description(task.ques, (task.web_name.strip() or website_name(task.web),))
