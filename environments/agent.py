"""The agent protocol: what decides on actions."""

from collections.abc import Sequence
from typing import Literal, Protocol

from taskloom.resources.record import Record
from taskloom.taskgraph.records.interaction import Action, Observation
from taskloom.taskgraph.records.trajectory import SlipMark, TrajectoryStep


class Spent(Record):
    """Usage of a model that the agent itself called for a decision.

    The run counts calls of its own models; an agent reports only others.
    """

    provider: str = ""
    """Name of the provider."""
    model: str = ""
    """Name of the model."""
    calls: int = 1
    """Number of calls."""
    input_tokens: int = 0
    """Input tokens of all calls."""
    output_tokens: int = 0
    """Output tokens of all calls."""
    cost_usd: float = 0.0
    """Price in US dollars."""


class Decision(Record):
    """What an agent decides at one step (App. E.1: status, observation, thought, control, function)."""

    status: Literal["continue", "finish", "give_up", "ask_user"]
    """`finish` claims success; `give_up` says the instruction cannot be done; `ask_user` puts the question in
    `message` to whoever gave the task."""
    description: str = ""
    """What the agent sees."""
    thought: str = ""
    """Why it takes the action."""
    action: Action | None = None
    """The action, for `continue`."""
    slip: SlipMark = ""
    """Whether the action is a slip or corrects one."""
    message: str = ""
    """Reason for giving up, or the question to the user."""
    answer: str = ""
    """With `finish`: the answer to what was asked."""
    reply: str = ""
    """The reply of the model, verbatim, for the record."""
    spent: Spent | None = None
    """Usage of models that the agent itself called."""


class Agent(Protocol):
    """Decides on the next action."""

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The next decision, given the instruction, the screen now, and the steps so far."""
        ...


class Companion(Protocol):
    """Whoever gave the task: answers questions and sends news mid-task, the same at the same step."""

    def says(self, question: str, step: int) -> str:
        """The message to the agent after `step`, or empty; `question` is empty unless the agent asked."""
        ...
