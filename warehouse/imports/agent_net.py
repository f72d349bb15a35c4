"""AgentNet (OpenCUA): JSON lines with one demonstration each, beside `images/`; AgentNetBench: a file each.

Actions are PyAutoGUI code with points as fractions of the screen. A demonstration is one task; its trajectory
comes in where all pictures are there and every step is one action here. AgentNetBench's further right actions
of a step stay in the original.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field

from taskloom.resources.record import Record
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
    listed_items,
)
from taskloom.warehouse.importing.json_reading import json_files
from taskloom.warehouse.importing.pyautogui_scripts import done_by, ends_task


class _Value(ForeignModel):
    code: str
    observation: str = ""
    thought: str = ""


def _as_value(step: object) -> object:
    """A step of AgentNetBench as AgentNet writes one."""
    if not isinstance(step, dict) or "value" in step or "action" not in step:
        return step
    said = step.get("inner_monologue")
    return {**step, "value": {**(said if isinstance(said, dict) else {}), "code": step["action"]}}


class _Step(ForeignModel):
    value: _Value
    image: str = ""


class _Demonstration(ForeignModel):
    task_id: Identifier
    instruction: Text = Field(validation_alias=AliasChoices("instruction", "high_level_task_description"))
    traj: list[Annotated[_Step, BeforeValidator(_as_value)]] = Field(
        validation_alias=AliasChoices("traj", "steps")
    )
    task_completed: bool | None = None
    natural_language_task: str | None = None
    applications: list[str] = Field(default_factory=list)


class _Named(ForeignModel):
    task_id: Identifier


def read(path: Path) -> Iterator[Record | BrokenItem]:
    """The demonstrations of a file, or of the JSON Lines of a folder (of its JSON where it has none).

    Raises:
        ImportRefusedError: nothing is there.
    """
    root = path if path.is_dir() else path.parent
    files = [file for file in json_files(path, lines_first=True) if file.name != "manifest.json"]

    def build(item: Item) -> Iterator[Record]:
        return _records(item, root)

    yield from checked(
        listed_items((file, file.relative_to(root).as_posix()) for file in files), build, _name
    )


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
    beside = (root / item.file).parent
    steps = [
        (read_picture(beside / "images", step.image) or read_picture(beside, step.image), step.value)
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
