"""A person's turn at a task: what the attempt shows, and what the person does.

The process that makes the attempt and the viewer exchange both as files in a folder of the attempt.
"""

from __future__ import annotations

import hashlib
from typing import Final, Literal, Self

from pydantic import Field, model_validator

from taskloom.resources.record import Record
from taskloom.taskgraph.records.interaction import Action

TURN: Final = "turn.json"
"""File with the turn; its time says when the attempt last waited."""
MOVE: Final = "move.json"
"""File with the answer."""
FOLDER: Final = "people"
"""Folder of the data folder with one folder per attempt that waits for a person."""


def place_of(attempt_id: str) -> str:
    """The name of an attempt's folder.

    >>> place_of("mine:human:task-1:high:0")
    '670b120a14526522'
    """
    return hashlib.sha256(attempt_id.encode()).hexdigest()[:16]


class Turn(Record):
    """What the attempt shows to a person, who is to say what comes next."""

    token: str = Field(pattern=r"^[0-9a-f]{32}$")
    """Name of this turn, which nobody else can guess; its picture is `<token>.png`."""
    attempt_id: str
    """The attempt."""
    began: float = 0.0
    """When the attempt began, in seconds since 1970."""
    instruction: str
    """What is to be done."""
    question: str = ""
    """What is asked; empty where nothing is."""
    step: int = Field(ge=1)
    """Number of the step that comes next."""
    step_limit: int
    """Most steps."""
    window_title: str = ""
    """Title of the window in front."""
    screen_size: tuple[int, int]
    """Width and height of the picture."""
    problem: str = ""
    """Why the last action was not carried out."""
    told: str = ""
    """What the user has said since."""
    can_ask: bool = False
    """Whether somebody answers questions."""


class Move(Record):
    """What a person does in a turn; it reads as a decision of an agent."""

    status: Literal["continue", "finish", "give_up", "ask_user"]
    """As in the decisions of agents."""
    action: Action | None = None
    """The action, for `continue`."""
    message: str = Field(default="", max_length=2000)
    """Reason for giving up, or the question to the user."""
    answer: str = Field(default="", max_length=2000)
    """Answer to what is asked."""

    @model_validator(mode="after")
    def _acts(self) -> Self:
        if (self.status == "continue") != (self.action is not None):
            raise ValueError("a move has an action exactly where the work goes on")
        return self
