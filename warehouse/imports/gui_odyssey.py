"""GUI-Odyssey: `annotations/<episode>.json` with steps, beside `screenshots/`.

Points are thousandths of the screen. An episode is one task; its trajectory comes in where all pictures are
there and no step presses a key of the phone, for which there is no action here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pydantic import Field, JsonValue

from taskloom.resources.record import Record
from taskloom.warehouse.importing.episodes import (
    Demonstrated,
    Description,
    Picture,
    click,
    drag,
    read_picture,
    read_tasks,
    typing,
    understood,
)
from taskloom.warehouse.importing.items import BrokenItem, ForeignModel, Identifier, Item, Text, file_items
from taskloom.warehouse.importing.json_reading import collection_files

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


def read(path: Path) -> Iterator[Record | BrokenItem]:
    """The episodes of a file, of `annotations`, or of the whole collection.

    Raises:
        ImportRefusedError: nothing is there.
    """
    notes = path / "annotations" if (path / "annotations").is_dir() else path
    pictures = (notes if notes.is_dir() else notes.parent).parent / "screenshots"
    yield from read_tasks(
        "gui_odyssey",
        file_items(collection_files(notes)),
        lambda item: item.named("episode_id"),
        lambda item: _describe(item, pictures),
    )


def _describe(item: Item, pictures: Path) -> Description:
    episode = item.parsed(_Episode)
    shown = [
        (read_picture(pictures, step.screenshot), step) for step in episode.steps if step.action not in _ENDS
    ]
    return Description(
        episode.task_info.instruction,
        episode.task_info.app,
        infeasible=any(step.action == "INCOMPLETE" for step in episode.steps),
        steps=[(picture, _done(step, picture)) for picture, step in shown],
    )


@understood
def _done(step: _Step, picture: Picture) -> Demonstrated | str | None:
    points = _points(step.info)
    if step.action == "CLICK" and len(points) == 1:
        done = click(*points[0], picture)
    elif step.action == "SCROLL" and len(points) > 1:
        done = drag(points, picture)
    elif step.action in ("TEXT", "TYPE") and isinstance(step.info, str):
        done = typing(step.info)
    else:
        return None
    return replace(done, description=step.description, thought=step.intention)


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
