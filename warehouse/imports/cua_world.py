"""CUA-World (Gym-Anything): `environments/<environment>/tasks/<task>/task.json`.

A task is one subtask of the application that its environment is for. Ids repeat between environments, so a
task's id here is `cua_world:<environment>/<id>`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import AliasChoices, AliasPath, Field

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
    file_items,
)


class _Named(ForeignModel):
    id: Identifier
    env_id: str = ""


class _Task(_Named):
    description: Text = Field(
        validation_alias=AliasChoices("description", AliasPath("natural_language", "prompt"))
    )


def read(path: Path) -> Iterator[Record | BrokenItem]:
    """The tasks of a file, or of a folder with its subfolders.

    Raises:
        ImportRefusedError: nothing is there.
    """
    root = path if path.is_dir() else path.parent
    files = [path] if path.is_file() else sorted(file for file in path.rglob("task.json") if file.is_file())
    if not files:
        raise ImportRefusedError(str(path), "", "holds no task.json")
    shown = ((file, file.relative_to(root).as_posix()) for file in files)
    yield from checked(file_items(shown), _records, _name)


def _environment(item: Item) -> str:
    """The environment's name without its version, else that of its folder."""
    folders = Path(item.file).parts[:-3]
    return item.parsed(_Named).env_id.partition("@")[0] or (folders[-1] if folders else "")


def _name(item: Item) -> str:
    name, environment = item.parsed(_Named).id, _environment(item)
    return f"cua_world:{environment}/{name}" if environment else f"cua_world:{name}"


def _records(item: Item) -> Iterator[Record]:
    application = _environment(item).removesuffix("_env")
    yield from task_records(
        item,
        Source(
            task_id=_name(item),
            format="cua_world",
            instruction=item.parsed(_Task).description,
            applications=(application,) if application else (),
        ),
    )
