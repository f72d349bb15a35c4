"""AgentNet (OpenCUA): JSON lines with one demonstration each, beside `images/`; AgentNetBench: a file each.

Actions are PyAutoGUI code with points as fractions of the screen. A demonstration is one task; its trajectory
comes in where all pictures are there and every step is one action here. AgentNetBench's further right actions
of a step stay in the original.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field

from taskloom.warehouse.importing.episodes import (
    Demonstrated,
    Description,
    Picture,
    read_picture,
    read_tasks,
)
from taskloom.warehouse.importing.items import ForeignModel, Identifier, Item, Records, Text, items_of
from taskloom.warehouse.importing.json_reading import collection_files
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


def read(path: Path) -> Records:
    """The demonstrations of a file, or of the JSON Lines of a folder (of its JSON where it has none)."""
    files = collection_files(path, lines_first=True)
    folders = {shown: file.parent for file, shown in files}
    yield from read_tasks(
        "agent_net",
        items_of(files),
        lambda item: item.named("task_id"),
        lambda item: _describe(item, folders[item.file]),
    )


def _describe(item: Item, beside: Path) -> Description:
    found = item.parsed(_Demonstration)
    applications = found.applications or ("desktop",)
    if found.task_completed is False:
        fault = "its maker says that the task was not completed"
        return Description(found.instruction, applications, steps=fault)
    steps = [
        (read_picture(beside / "images", step.image) or read_picture(beside, step.image), step.value)
        for step in found.traj
        if not ends_task(step.value.code)
    ]
    done = [(picture, _done(value, picture)) for picture, value in steps]
    return Description(found.instruction, applications, steps=done)


def _done(value: _Value, picture: Picture | None) -> Demonstrated | str | None:
    done = done_by(value.code, picture, fractions=True)
    if not isinstance(done, Demonstrated):
        return done
    return replace(done, description=value.observation, thought=value.thought)
