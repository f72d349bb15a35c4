"""AgentNet (OpenCUA): JSON lines with one demonstration each, beside `images/`.

Actions are PyAutoGUI code with points as fractions of the screen. A demonstration is one task; its trajectory
comes in where all pictures are there and every step is one action here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import Field

from taskloom.resources.record import Record
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.importing.episodes import (
    Demonstrated,
    Picture,
    Source,
    left_out,
    read_picture,
    task_records,
    trajectories_of,
    understood,
)
from taskloom.warehouse.importing.items import (
    BrokenItem,
    ForeignModel,
    Identifier,
    Item,
    Text,
    checked,
    line_items,
)
from taskloom.warehouse.importing.pyautogui_scripts import done_by, ends_task


class _Value(ForeignModel):
    code: str
    observation: str = ""
    thought: str = ""


class _Step(ForeignModel):
    value: _Value
    image: str = ""


class _Demonstration(ForeignModel):
    task_id: Identifier
    instruction: Text
    traj: list[_Step]
    task_completed: bool | None = None
    natural_language_task: str | None = None
    applications: list[str] = Field(default_factory=list)


class _Named(ForeignModel):
    task_id: Identifier


def read(path: Path) -> Iterator[Record | BrokenItem]:
    """The demonstrations of a file, or of the `.jsonl` files of a folder.

    Raises:
        ImportRefusedError: nothing is there.
    """
    root = path if path.is_dir() else path.parent
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files or not all(file.is_file() for file in files):
        raise ImportRefusedError(str(path), "", "holds no .jsonl file")

    def build(item: Item) -> Iterator[Record]:
        return _records(item, root)

    items = (item for file in files for item in line_items(file, file.name))
    yield from checked(items, build, _name)


def _name(item: Item) -> str:
    return f"agent_net:{item.parsed(_Named).task_id}"


def _records(item: Item, root: Path) -> Iterator[Record]:
    found = item.parsed(_Demonstration)
    source = Source(
        task_id=_name(item),
        format="agent_net",
        instruction=found.instruction,
        applications=found.applications or ("desktop",),
    )
    yield from task_records(item, source)
    if found.task_completed is False:
        yield left_out(source, "its maker says that the task was not completed")
        return
    steps = [
        (read_picture(root / "images", step.image) or read_picture(root, step.image), step.value)
        for step in found.traj
        if not ends_task(step.value.code)
    ]
    yield from trajectories_of(source, [(picture, _done(value, picture)) for picture, value in steps])


@understood
def _done(value: _Value, picture: Picture | None) -> Demonstrated | str | None:
    done = done_by(value.code, picture, fractions=True) if picture is not None else None
    if not isinstance(done, Demonstrated):
        return done
    return Demonstrated(done.action, done.rectangle, done.target, value.observation, value.thought)
