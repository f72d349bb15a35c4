"""OSUniverse: a YAML file per task in a folder per application.

A task is one subtask of the application that its folder is named after.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from taskloom.resources.record import Record
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.importing.episodes import Source, task_records
from taskloom.warehouse.importing.items import BrokenItem, ForeignModel, Item, Text, checked, unreadable
from taskloom.warehouse.importing.json_reading import read_settings


class _Task(ForeignModel):
    name: Text
    task: Text


def read(path: Path) -> Iterator[Record | BrokenItem]:
    """The tasks of a file, or of the `testcases` of a folder, or of a folder with its subfolders.

    Raises:
        ImportRefusedError: nothing is there.
    """
    top = path / "testcases" if (path / "testcases").is_dir() else path
    files = sorted(file for file in top.rglob("*.yaml") if file.is_file()) if top.is_dir() else [path]
    if not files:
        raise ImportRefusedError(str(path), "", "holds no .yaml file")
    root = top if top.is_dir() else path.absolute().parent.parent
    yield from checked((_item(file.absolute(), root.absolute()) for file in files), _records, _name)


def _item(file: Path, root: Path) -> Item | BrokenItem:
    shown = file.relative_to(root).as_posix()
    try:
        return Item(shown, read_settings(file, shown))
    except ImportRefusedError as error:
        return unreadable(error, shown)


def _name(item: Item) -> str:
    return f"osuniverse:{Path(item.file).with_suffix('').as_posix()}"


def _records(item: Item) -> Iterator[Record]:
    folder = Path(item.file).parent.name
    yield from task_records(
        item,
        Source(
            task_id=_name(item),
            format="osuniverse",
            instruction=item.parsed(_Task).task,
            applications=(folder or "desktop",),
        ),
    )
