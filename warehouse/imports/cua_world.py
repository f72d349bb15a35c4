"""CUA-World (Gym-Anything): `environments/<environment>/tasks/<task>/task.json`.

A task is one subtask of the application that its environment is for. Ids repeat between environments, so a
task's id here is `cua_world:<environment>/<id>`.
"""

from pathlib import Path

from pydantic import AliasChoices, AliasPath, Field

from taskloom.warehouse.importing.episodes import Description, read_tasks
from taskloom.warehouse.importing.items import ForeignModel, Item, Records, Text, items_of
from taskloom.warehouse.importing.json_reading import matching_files


class _Environment(ForeignModel):
    env_id: str = ""


class _Task(ForeignModel):
    description: Text = Field(
        validation_alias=AliasChoices("description", AliasPath("natural_language", "prompt"))
    )


def read(path: Path) -> Records:
    """The tasks of a file, or of a folder with its subfolders."""
    items = items_of(matching_files(path, "task.json"), one_each=True)
    yield from read_tasks("cua_world", items, _name, _describe)


def _environment(item: Item) -> str:
    folders = Path(item.file).parts[:-3]
    return item.parsed(_Environment).env_id.partition("@")[0] or (folders[-1] if folders else "")


def _name(item: Item) -> str:
    return "/".join(filter(None, (_environment(item), item.named("id"))))


def _describe(item: Item) -> Description:
    application = _environment(item).removesuffix("_env")
    return Description(item.parsed(_Task).description, (application,) if application else ())
