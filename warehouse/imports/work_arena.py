"""WorkArena: task configurations for ServiceNow (`task_configs/*.json`) with a `goal` or a `question`.

The words of other configurations are written by WorkArena's own program when a task is started, and are
nowhere in the files; they are refused with that reason.
"""

from pathlib import Path, PurePosixPath

from taskloom.warehouse.errors import GOAL_NOT_WRITTEN
from taskloom.warehouse.importing.episodes import Description, read_tasks
from taskloom.warehouse.importing.items import ForeignModel, Item, Records, items_of
from taskloom.warehouse.importing.json_reading import collection_files


class _Configuration(ForeignModel):
    goal: str = ""
    question: str = ""


def read(path: Path) -> Records:
    """The configurations of a file, or of all files of a folder and its subfolders."""
    found = collection_files(path)
    listed = [pair for pair in found if "task_configs" in PurePosixPath(pair[1]).parts]
    yield from read_tasks("work_arena", items_of(listed or found), _name, _describe)


def _name(item: Item) -> str:
    return f"{PurePosixPath(item.file).stem}{item.place}"


def _describe(item: Item) -> Description:
    configuration = item.parsed(_Configuration)
    # A question of one word, such as `max`, is what WorkArena's program makes a sentence of.
    asked = configuration.question if " " in configuration.question.strip() else ""
    instruction = configuration.goal.strip() or ("" if ";" in asked else asked.strip())
    if not instruction:
        raise item.refused(
            "goal", "is missing: WorkArena's own program writes the words of this task", GOAL_NOT_WRITTEN
        )
    return Description(instruction, ("servicenow",))
