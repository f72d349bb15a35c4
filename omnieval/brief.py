"""What an agent is given before its first decision."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, JsonValue

from taskloom.environments.errors import AgentError, UnusableReplyError
from taskloom.model_clients.errors import CallFailedError, ReplyInvalidError
from taskloom.prompts.agent_inputs import ApplicationInView
from taskloom.prompts.prompt_input import Models, PromptInput
from taskloom.prompts.rendering import TemplateBrokenError
from taskloom.resources.record import Record
from taskloom.taskgraph.records.trajectory import Trajectory

R = TypeVar("R", bound=BaseModel)


class AgentTask(Record):
    """A task as an agent is told of it: nothing of its graph or its evaluation functions."""

    task_id: str
    """Opaque id."""
    instruction: str
    """What the protocol tells the agent; `decide` is given the same text."""
    applications: tuple[ApplicationInView, ...] = ()
    """Applications that are open, the first in front."""
    step_limit: int = 200
    """Most steps."""
    question: str = ""
    """What is asked; empty for tasks without a question."""
    can_ask: bool = False
    """Whether somebody answers `ask_user`."""


@dataclass(frozen=True, slots=True)
class RecordedPart:
    """How one subtask of a task was performed, for agents that repeat recordings."""

    instance_id: str
    application: str
    title: str
    """What the task bar calls that."""
    reads_open_page: bool
    """Whether it reads what only the page holds that is open, so that this must not be left before."""
    trajectory: Trajectory
    needs: tuple[str, ...] = ()
    """Subtasks that come before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentBrief:
    """All that an agent is made from."""

    task: AgentTask
    seed: int = 0
    """Seed of its random choices; another one in every repeat."""
    number: int = 0
    """Number of the attempt among those of its agent."""
    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    """Settings of the agent, as the experiment gives them."""
    prompt: str = ""
    """Template of the system prompt, where the experiment gives one of its own."""
    models: Models | None = None
    """The model to ask with the role `actor`; None for agents without one."""
    stage: str = "evaluation"
    """What calls are booked under."""
    attempt_id: str = ""
    """`item_id` of calls, so that they are counted for the attempt."""
    people: Path | None = None
    """Folder in which attempts wait for a person."""
    recorded: Sequence[RecordedPart] = ()
    """Verified performances; given to agents that taskloom brings alone."""
    answer: str = ""
    """The right answer to what is asked; given with them."""
    impossible: str = ""
    """Why the task cannot be done, where it cannot; given with them."""
    beside: Callable[[], RecordedPart | None] = lambda: None
    """Finds how something is done that the task does not ask for; given with them."""
    orders: Sequence[Sequence[str]] = ()
    """Orders of these in which the task succeeds, as instance ids; given with them."""

    async def ask(self, question: PromptInput[R]) -> R:
        """The reply of the model.

        Raises:
            UnusableReplyError: the reply is none of the kind that was asked for.
            AgentError: the model refused or did not answer, there is none, or the own prompt does not fit.
            ModelClientError: calls cannot go on at all.
        """
        if self.models is None:
            raise AgentError("The agent asks a model, and was given none.")
        try:
            return await self.models.ask(
                question, stage=self.stage, item_id=self.attempt_id, attempt=self.seed
            )
        except ReplyInvalidError as error:
            raise UnusableReplyError(str(error)) from error
        except (CallFailedError, TemplateBrokenError) as error:
            raise AgentError(str(error)) from error
