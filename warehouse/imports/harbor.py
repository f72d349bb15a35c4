"""Harbor and Terminal-Bench: a folder per task, with `task.toml` and `instruction.md`, or one `task.yaml`.

A task is one subtask in a terminal. Containers, tests and solutions are neither read nor run; the original is
what `task.toml` or `task.yaml` says, with the instruction.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from taskloom.resources.record import Record
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.importing.episodes import Source, task_records
from taskloom.warehouse.importing.items import BrokenItem, ForeignModel, Item, Text, checked, unreadable
from taskloom.warehouse.importing.json_reading import read_settings, read_text

_DESCRIPTIONS = ("task.toml", "task.yaml")


class _Task(ForeignModel):
    instruction: Text


def read(path: Path) -> Iterator[Record | BrokenItem]:
    """The tasks of a package, or of a folder with its subfolders.

    Raises:
        ImportRefusedError: nothing is there.
    """
    root = path if path.is_dir() else path.parent
    inside = sorted(path.rglob("task.*")) if path.is_dir() else [path]
    files = [file for file in inside if file.name in _DESCRIPTIONS and file.is_file()]
    if not files:
        raise ImportRefusedError(str(path), "", f"holds no {' or '.join(_DESCRIPTIONS)}")
    yield from checked((_item(file, root) for file in files), _records, _name)


def _item(file: Path, root: Path) -> Item | BrokenItem:
    shown = file.relative_to(root).as_posix()
    try:
        value = read_settings(file, shown)
        if isinstance(value, dict) and file.suffix == ".toml":
            beside = file.with_name("instruction.md")
            value["instruction"] = read_text(beside, beside.relative_to(root).as_posix())
    except ImportRefusedError as error:
        return unreadable(error, shown)
    return Item(shown, value, file.absolute().parent.name if file.parent == root else "")


def _name(item: Item) -> str:
    """The folder, as both call a task; several levels where a collection has them."""
    return f"harbor:{item.place or Path(item.file).parent.as_posix()}"


def _records(item: Item) -> Iterator[Record]:
    yield from task_records(
        item,
        Source(
            task_id=_name(item),
            format="harbor",
            instruction=item.parsed(_Task).instruction.strip(),
            applications=("terminal",),
            place=item.file,
        ),
    )
