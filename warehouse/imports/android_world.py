"""AndroidWorld: `task_metadata.json` with a template per task; values are drawn when a task starts.

A template becomes a subtask template. One without placeholders is a whole task, too.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic import Field

from taskloom.resources.record import Record
from taskloom.taskgraph.records.subtask import Subtask, placeholders
from taskloom.warehouse.importing.episodes import Description, task_records
from taskloom.warehouse.importing.imported_tasks import canonical_application
from taskloom.warehouse.importing.items import (
    IMPORTED,
    ForeignModel,
    Item,
    Records,
    Text,
    check_items,
    items_of,
)

_APPLICATIONS: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "audio_recorder": (("AudioRecorder",), "audio recorder"),
    "broccoli": (("Recipe",), "broccoli"),
    "chrome": (("Browser",), "chrome"),
    "files": (("Files",), "file manager"),
    "joplin": (("Notes",), "joplin"),
    "markor": (("Markor",), "markor"),
    "osmand": (("OsmAnd",), "osmand"),
    "open_tracks": (("SportsTracker",), "opentracks"),
    "pro_expense": (("Expense",), "pro expense"),
    "retro_music": (("Retro",), "retro music"),
    "simple_calendar": (("SimpleCalendar",), "simple calendar"),
    "simple_draw": (("SimpleDrawPro",), "simple draw"),
    "gallery": (("SaveCopyOfReceipt",), "simple gallery"),
    "simple_sms": (("SimpleSms",), "simple sms"),
    "vlc": (("Vlc",), "vlc"),
    "camera": (("Camera",), ""),
    "clock": (("Clock",), ""),
    "contacts": (("Contacts",), ""),
    "os": (("OpenApp", "System", "TurnOff", "TurnOn"), ""),
    "tasks": (("Tasks",), ""),
}
"""Applications with the prefixes of their tasks' names, and their own name in texts."""


class _Template(ForeignModel):
    task_name: Text
    task_template: Text
    difficulty: str = ""
    tags: list[str] = Field(default_factory=list)


def read(path: Path) -> Records:
    """The templates of a file, or of the first `task_metadata.json` of a folder and its subfolders."""
    inside = sorted(path.rglob("task_metadata.json"))
    file = path if path.is_file() or not inside else inside[0]
    yield from check_items(
        items_of([(file, file.name)]), lambda item: f"android_world:{item.read_id('task_name')}", _records
    )


def _records(item: Item, name: str) -> Iterator[Record]:
    template = item.parse(_Template)
    applications = _applications(template)
    application, category = canonical_application(applications[0])
    yield Subtask(
        subtask_id=name,
        application=application,
        application_category=category,
        operating_system="Android",
        platform="imported:android",
        instruction_template=template.task_template,
        available_parameters=(),
        origin="imported",
        provenance=IMPORTED,
    )
    if placeholders(template.task_template):
        yield item.original(name, "subtask")
    else:
        yield from task_records(item, name, Description(template.task_template, applications))


def _applications(template: _Template) -> list[str]:
    """The application that the task name's prefix means, then those that its text names."""
    text = template.task_template.casefold()
    by_prefix = [name for name, (prefix, _) in _APPLICATIONS.items() if template.task_name.startswith(prefix)]
    by_title = [name for name, (_, title) in _APPLICATIONS.items() if title and title in text]
    return list(dict.fromkeys([*(by_prefix or ["android"])[:1], *by_title]))
