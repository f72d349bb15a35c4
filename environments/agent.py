"""The agent protocol: what decides on actions."""

from collections.abc import Sequence
from typing import Literal, Protocol

from taskloom.resources.record import Record
from taskloom.taskgraph.records.interaction import Action, Observation
from taskloom.taskgraph.records.trajectory import SlipMark, TrajectoryStep


class Spent(Record):
    """What a decision took of a model that the agent called itself.

    Calls made through the models of the run are counted by the run; an agent reports only others.
    """

    provider: str = ""
    """Who answered."""
    model: str = ""
    """Which model."""
    calls: int = 1
    """Calls made."""
    input_tokens: int = 0
    """All input."""
    output_tokens: int = 0
    """All output."""
    cost_usd: float = 0.0
    """Price in US dollars."""


class Decision(Record):
    """What an agent decides at one step (App. E.1: status, observation, thought, control, function)."""

    status: Literal["continue", "finish", "give_up", "ask_user"]
    """`finish` claims success; `give_up` says the instruction cannot be done; `ask_user` puts the question in
    `message` to whoever gave the task."""
    description: str = ""
    """What it sees."""
    thought: str = ""
    """Why it acts."""
    action: Action | None = None
    """The action, for `continue`."""
    slip: SlipMark = ""
    """Whether the action is a slip, or takes one back."""
    message: str = ""
    """Reason for giving up, or the question to the user."""
    answer: str = ""
    """With `finish`: the answer to what was asked."""
    reply: str = ""
    """What the model said, word for word, for the record."""
    spent: Spent | None = None
    """What it took of models that the agent called itself."""


class Agent(Protocol):
    """Decides on the next action."""

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The next decision, given the instruction, the screen now, and the steps so far."""
        ...


class Companion(Protocol):
    """Whoever gave the task: answers questions, and has news in mid-task. Equal steps hear equal words."""

    def says(self, question: str, step: int) -> str:
        """What the agent hears after `step`; `question` is empty unless it asked. Empty for nothing."""
        ...
