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
    """Its name in the task bar and in everyday use."""
    manual: str = ""
    """Its manual."""


class PlanReply(Record):
    """The planner's reply."""

    steps: list[str] = Field(min_length=1)
    """The steps, in order."""


class PlannerInput(PromptInput[PlanReply]):
    """Input of the planner, whose plan another agent carries out."""

    role: ClassVar[ModelRole] = ModelRole.PLANNER

    instruction: str
    """What to do."""
    applications: tuple[ApplicationInView, ...] = ()
    """The open applications."""
    step_limit: int
    """Number of actions allowed."""
    screenshot: Screenshot
    """The screen at the start."""


class SpokenActorInput(PromptInput[SpokenReply]):
    """Input of an agent that answers in the format its model was trained for."""

    role: ClassVar[ModelRole] = ModelRole.ACTOR
    template: ClassVar[str] = "spoken_actor"

    instruction: str
    """What to do."""
    applications: tuple[ApplicationInView, ...] = ()
    """The open applications."""
    actions: tuple[str, ...]
    """Signatures of the actions it may make."""
    grid: str
    """Description of the coordinates."""
    shape: str
    """Layout of a reply."""
    picture_size: tuple[int, int]
    """Width and height of the pictures."""
    step_limit: int
    """Number of steps allowed."""
    first: bool = True
    """Whether this begins the conversation."""
    outcome: str = ""
    """Result of the last actions, if it was not as intended."""
    screenshot: Screenshot
    """The screen, at the size in which it is sent."""
