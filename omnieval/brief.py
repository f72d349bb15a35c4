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
    """A task as an agent sees it, without its graph and evaluation functions."""

    task_id: str
    """Opaque id."""
    instruction: str
    """The instruction in the protocol's form; `decide` receives the same text."""
    applications: tuple[ApplicationInView, ...] = ()
    """Open applications; the first is in front."""
    step_limit: int = 200
    """Maximum number of steps."""
    question: str = ""
    """The question to answer; empty for tasks without one."""
    can_ask: bool = False
    """Whether `ask_user` is answered."""


@dataclass(frozen=True, slots=True)
class RecordedPart:
    """How one subtask of a task was performed, for agents that repeat recordings."""

    instance_id: str
    application: str
    title: str
    """Name of the application in the task bar."""
    reads_open_page: bool
    """Whether it reads something that only the open page holds, so the page must not be left before it."""
    trajectory: Trajectory
    needs: tuple[str, ...] = ()
    """Subtasks that it depends on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentBrief:
    """Everything that an agent is created from."""

    task: AgentTask
    seed: int = 0
    """Seed of its random choices; different in every repeat."""
    number: int = 0
    """Number of the attempt among those of its agent."""
    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    """Settings of the agent, as given in the experiment."""
    prompt: str = ""
    """Template of the system prompt, if the experiment gives one."""
    models: Models | None = None
    """The model to ask with the role `actor`; None for agents without one."""
    stage: str = "evaluation"
    """Stage under which calls are recorded."""
    attempt_id: str = ""
    """`item_id` of calls, so that they are counted for the attempt."""
    people: Path | None = None
    """Folder in which attempts wait for a person."""
    recorded: Sequence[RecordedPart] = ()
    """Verified performances; this and the following fields are only given to built-in agents."""
    answer: str = ""
    """The right answer to the task's question."""
    impossible: str = ""
    """Why the task cannot be done; empty if it can."""
    beside: Callable[[], RecordedPart | None] = lambda: None
    """Finds a performance of something that the task does not ask for."""
    orders: Sequence[Sequence[str]] = ()
    """Orders in which the task succeeds, as instance ids."""

    async def ask(self, question: PromptInput[R]) -> R:
        """The reply of the model.

        Raises:
            UnusableReplyError: the reply does not have the requested form.
            AgentError: the model refused or did not answer, there is none, or the given prompt does not fit.
            ModelClientError: no further calls are possible.
        """
        if self.models is None:
            raise AgentError("The agent asks a model, but was given none.")
        try:
            return await self.models.ask(
                question, stage=self.stage, item_id=self.attempt_id, attempt=self.seed
            )
        except ReplyInvalidError as error:
            raise UnusableReplyError(str(error)) from error
        except (CallFailedError, TemplateBrokenError) as error:
            raise AgentError(str(error)) from error
