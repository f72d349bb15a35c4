"""The agent protocol: what decides on actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from taskloom.resources.record import Record
from taskloom.taskgraph.records.interaction import Action, Observation
from taskloom.taskgraph.records.trajectory import SlipMark, TrajectoryStep


class Decision(Record):
    """What an agent decides at one step (App. E.1: status, observation, thought, control, function)."""

    status: Literal["continue", "finish", "give_up"]
    """`finish` claims success; `give_up` says the instruction cannot be done."""
    description: str = ""
    """What it sees."""
    thought: str = ""
    """Why it acts."""
    action: Action | None = None
    """The action, for `continue`."""
    slip: SlipMark = ""
    """Whether the action is a slip, or takes one back."""
    message: str = ""
    """Reason for giving up."""


class Agent(Protocol):
    """Decides on the next action."""

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The next decision, given the instruction, the screen now, and the steps so far."""
        ...
