"""GUI-Odyssey: `annotations/<episode>.json` with steps, beside `screenshots/`.

Points are thousandths of the screen. An episode is one task; its trajectory comes in where all pictures are
there and no step presses a key of the phone, for which there is no action here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import Field, JsonValue

from taskloom.resources.record import Record
from taskloom.warehouse.importing.episodes import (
    Demonstrated,
    Picture,
    Source,
    click,
    drag,
    read_picture,
    task_records,
    trajectories_of,
    typing,
    understood,
)
from taskloom.warehouse.importing.items import (
    BrokenItem,
    ForeignModel,
    Identifier,
    Item,
    Text,
    checked,
    file_items,
)
from taskloom.warehouse.importing.json_reading import json_files

_ENDS = ("COMPLETE", "INCOMPLETE")


class _TaskInfo(ForeignModel):
    instruction: Text
    category: str = ""
    app: list[str] = Field(default_factory=list)
    meta_task: str = ""


class _Step(ForeignModel):
    action: Text
    info: JsonValue = ""
    screenshot: str = ""
    description: str = ""
    intention: str = ""


class _Episode(ForeignModel):
    episode_id: Identifier
    task_info: _TaskInfo
    steps: list[_Step]


class _Named(ForeignModel):
    episode_id: Identifier


def read(path: Path) -> Iterator[Record | BrokenItem]:
    """The episodes of a file, of `annotations`, or of the whole collection.

    Raises:
        ImportRefusedError: nothing is there.
    """
    notes = path / "annotations" if (path / "annotations").is_dir() else path
    root = notes if notes.is_dir() else notes.parent
    pictures = root.parent / "screenshots"

    def build(item: Item) -> Iterator[Record]:
        return _records(item, pictures)

    files = [file for file in json_files(notes) if file.name != "manifest.json"]
    yield from checked(file_items((file, file.relative_to(root).as_posix()) for file in files), build, _name)


def _name(item: Item) -> str:
    return f"gui_odyssey:{item.parsed(_Named).episode_id}"


def _records(item: Item, pictures: Path) -> Iterator[Record]:
    episode = item.parsed(_Episode)
    source = Source(
        task_id=_name(item),
        format="gui_odyssey",
        instruction=episode.task_info.instruction,
        applications=episode.task_info.app,
        infeasible=any(step.action == "INCOMPLETE" for step in episode.steps),
    )
    yield from task_records(item, source)
    shown = [
        (read_picture(pictures, step.screenshot), step) for step in episode.steps if step.action not in _ENDS
    ]
    yield from trajectories_of(source, [(picture, _done(step, picture)) for picture, step in shown])


@understood
def _done(step: _Step, picture: Picture | None) -> Demonstrated | str | None:
    if picture is None:
        return None
    points = _points(step.info)
    if step.action == "CLICK" and len(points) == 1:
        done = click(*points[0], picture)
    elif step.action == "SCROLL" and len(points) > 1:
        done = drag(points, picture)
    elif step.action in ("TEXT", "TYPE") and isinstance(step.info, str):
        done = typing(step.info)
    else:
        return None
    return Demonstrated(done.action, done.rectangle, done.target, step.description, step.intention)


def _points(info: JsonValue) -> list[tuple[float, float]]:
    """The points of a step; none where it names none.

    Raises:
        ValueError: one is no pair of numbers.
    """
    found: list[tuple[float, float]] = []
    for pair in info if isinstance(info, list) else []:
        if not isinstance(pair, list) or len(pair) != 2:
            raise ValueError("a point is no pair of numbers")
        found.append((float(str(pair[0])) / 1000, float(str(pair[1])) / 1000))
    return found
