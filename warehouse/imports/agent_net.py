"""AgentNet (OpenCUA): JSON lines with one demonstration each, beside `images/`; AgentNetBench: a file each.

Actions are PyAutoGUI code with points as fractions of the screen. A demonstration is one task; its trajectory
is imported if all pictures exist and every step is one action here. AgentNetBench's alternative correct
actions for a step are kept in the original.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field

from taskloom.warehouse.importing.episodes import (
    DemonstratedAction,
    Description,
    Picture,
    read_picture,
    read_tasks,
)
from taskloom.warehouse.importing.items import ForeignModel, Identifier, Item, Records, Text, items_of
from taskloom.warehouse.importing.json_reading import collection_files
from taskloom.warehouse.importing.pyautogui_scripts import ends_task, parse_script


class _Value(ForeignModel):
    code: str
    observation: str = ""
    thought: str = ""


def _as_value(step: object) -> object:
    """A step of AgentNetBench as AgentNet writes one."""
    if not isinstance(step, dict) or "value" in step or "action" not in step:
        return step
    monologue = step.get("inner_monologue")
    return {**step, "value": {**(monologue if isinstance(monologue, dict) else {}), "code": step["action"]}}


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
    """The demonstrations of a file, or of the JSON Lines of a folder (of its JSON if it has none)."""
    files = collection_files(path, lines_first=True)
    folders = {label: file.parent for file, label in files}
    yield from read_tasks(
        "agent_net",
        items_of(files),
        lambda item: item.read_id("task_id"),
        lambda item: _describe(item, folders[item.file]),
    )


def _describe(item: Item, folder: Path) -> Description:
    demonstration = item.parse(_Demonstration)
    applications = demonstration.applications or ("desktop",)
    if demonstration.task_completed is False:
        fault = "its author reports that the task was not completed"
        return Description(demonstration.instruction, applications, steps=fault)
    steps = [
        (read_picture(folder / "images", step.image) or read_picture(folder, step.image), step.value)
        for step in demonstration.traj
        if not ends_task(step.value.code)
    ]
    actions = [(picture, _read_action(value, picture)) for picture, value in steps]
    return Description(demonstration.instruction, applications, steps=actions)


def _read_action(value: _Value, picture: Picture | None) -> DemonstratedAction | str | None:
    action = parse_script(value.code, picture, fractions=True)
    if not isinstance(action, DemonstratedAction):
        return action
    return replace(action, description=value.observation, thought=value.thought)
