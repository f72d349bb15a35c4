"""OSUniverse: a YAML file per task in a folder per application.

A task is one subtask of the application that its folder is named after.
"""

from pathlib import Path

from taskloom.warehouse.importing.episodes import Description, read_tasks
from taskloom.warehouse.importing.items import ForeignModel, Item, Records, Text, settings_items
from taskloom.warehouse.importing.json_reading import matching_files


class _Task(ForeignModel):
    name: Text
    task: Text


def read(path: Path) -> Records:
    """The tasks of a file, or of the `testcases` of a folder, or of a folder with its subfolders."""
    top = path / "testcases" if (path / "testcases").is_dir() else path
    files = matching_files(top, "*.yaml")
    if top.is_file():
        files = [(top, f"{top.absolute().parent.name}/{top.name}")]
    yield from read_tasks("osuniverse", settings_items(files), _name, _describe)


def _name(item: Item) -> str:
    return Path(item.file).with_suffix("").as_posix()


def _describe(item: Item) -> Description:
    return Description(item.parsed(_Task).task, (Path(item.file).parent.name or "desktop",))
