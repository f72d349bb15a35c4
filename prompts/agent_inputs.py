"""The typed inputs of prompts for agents under evaluation."""

from typing import ClassVar

from pydantic import Field

from taskloom.prompts.prompt_input import PromptInput
from taskloom.resources.record import Record
from taskloom.taskgraph.records.computer_use import SpokenReply
from taskloom.taskgraph.records.interaction import Screenshot
from taskloom.taskgraph.records.model_calls import ModelRole


class ApplicationInView(Record):
    """An application that is open."""

    name: str
    """Name in the catalogue."""
    title: str
    """Name that people use for it, and the task bar."""
    manual: str = ""
    """Its manual."""


class PlanReply(Record):
    """What the planner answers."""

    steps: list[str] = Field(min_length=1)
    """The steps, in order."""


class PlannerInput(PromptInput[PlanReply]):
    """What the planner sees of a task that another agent carries out."""

    role: ClassVar[ModelRole] = ModelRole.PLANNER

    instruction: str
    """What to do."""
    applications: tuple[ApplicationInView, ...] = ()
    """What is open."""
    step_limit: int
    """Actions that may be made."""
    screenshot: Screenshot
    """The screen at the start."""


class SpokenActorInput(PromptInput[SpokenReply]):
    """What an agent sees that answers in the format its model was trained for."""

    role: ClassVar[ModelRole] = ModelRole.ACTOR
    template: ClassVar[str] = "spoken_actor"

    instruction: str
    """What to do."""
    applications: tuple[ApplicationInView, ...] = ()
    """What is open."""
    actions: tuple[str, ...]
    """What it may do, as signatures."""
    grid: str
    """How places are given."""
    shape: str
    """How a reply is laid out."""
    picture_size: tuple[int, int]
    """Width and height of the pictures."""
    step_limit: int
    """Steps that may be taken."""
    first: bool = True
    """Whether this begins the conversation."""
    outcome: str = ""
    """What became of the last actions, where that was not what was meant."""
    screenshot: Screenshot
    """The screen, at the size at which it is sent."""
