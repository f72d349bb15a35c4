"""Harbor and Terminal-Bench: a folder per task, with `task.toml` and `instruction.md`, or one `task.yaml`.

A task is one subtask in a terminal. Containers, tests and solutions are neither read nor run; the original is
what `task.toml` or `task.yaml` says, with the instruction.
"""

from pathlib import Path

from taskloom.warehouse.importing.episodes import Description, read_tasks
from taskloom.warehouse.importing.items import ForeignModel, Item, Records, Text, settings_items
from taskloom.warehouse.importing.json_reading import matching_files


class _Task(ForeignModel):
    instruction: Text


def read(path: Path) -> Records:
    """The tasks of a package, or of a folder with its subfolders."""
    files = matching_files(path, "task.toml", "task.yaml")
    folders = {shown: file.absolute().parent.name for file, shown in files}

    def name(item: Item) -> str:
        """The folder, as both call a task; several levels where a collection has them."""
        inside = Path(item.file).parent
        return inside.as_posix() if inside.name else folders[item.file]

    yield from read_tasks("harbor", settings_items(files, beside="instruction.md"), name, _describe)


def _describe(item: Item) -> Description:
    return Description(item.parsed(_Task).instruction.strip(), ("terminal",))
