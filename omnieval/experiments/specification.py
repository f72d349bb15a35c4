"""The file of an experiment: agents, tasks, repeats, limits."""

from typing import Literal, Self

from pydantic import Field, JsonValue, field_validator, model_validator

from taskloom.environments.agents.perceiving import Perception
from taskloom.model_clients.settings import ModelSettings
from taskloom.resources.record import Record

Variant = Literal["high", "low", "orders", "intent", "ask", "news"]
"""Which instructions agents are given: `high`, the task's; `low`, those of its subtasks one after the other;
`orders`, the same task told in its other orders (Table 8); `intent`, the task's with its goal told first;
`ask`, the task's without one value, which the user says when asked; `news`, with another value, which a
message of the user corrects after the first step. The right end is that of the task in all of them."""


class AgentEntry(Record):
    """One agent of an experiment."""

    agent: str
    """An agent that taskloom brings, or the user's own `module:factory`."""
    name: str = ""
    """Its name in tables; that of its model, or of the agent, if left out."""
    model: ModelSettings | None = None
    """The model that it asks; that of the role `actor` if left out."""
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    """Settings of its own."""
    perception: Perception | None = None
    """What it is shown of a screen beside the controls."""
    prompt: str = ""
    """System prompt of its own, a Jinja template; an experiment's file may name one as `prompt_file`."""

    @property
    def title(self) -> str:
        """What tables call it.

        >>> AgentEntry(agent="my_agents:make").title, AgentEntry(agent="random", name="dice").title
        ('my_agents:make', 'dice')
        """
        return self.name or (self.model.model if self.model else self.agent)


class TaskSet(Record):
    """Which tasks are attempted. All conditions must hold."""

    ids: tuple[str, ...] = ()
    """Exactly these tasks."""
    where: str = ""
    """SQL condition over the columns of `tasks`."""
    levels: dict[str, str] = Field(default_factory=dict)
    """Level per dimension."""
    capability: str = ""
    """Capability of Table 12."""
    applications: tuple[str, ...] = ()
    """Applications of which every task uses at least one."""
    export: str = ""
    """Folder of an export whose tasks are taken; after a colon one of its sets, as in `released:test`."""
    version: str = ""
    """Dataset version that the tasks are read from; the present state if empty."""
    size: int | None = Field(default=None, ge=1)
    """Tasks at most."""
    seed: int = 0
    """Seed of the draw; never that of the agents."""
    questions: bool = False
    """Whether tasks that read a table are attempted once more with a question about it."""
    impossible: bool = False
    """Whether tasks that read a file are attempted once more without it, where that was shown to be
    impossible."""
    twins: bool = False
    """Whether the chain twins of the tasks are attempted as well (Figure 7)."""


class Limits(Record):
    """Where attempts and the run end."""

    steps: int = Field(default=0, ge=0)
    """Most steps of an attempt; 0 for the protocol's."""
    patience: int = Field(default=0, ge=0)
    """Steps without a completed subtask after which an attempt has failed (the paper's N); 0 for the
    protocol's."""
    decision_seconds: float = Field(default=300, gt=0)
    """Longest time of one decision."""
    attempt_seconds: float = Field(default=3600, gt=0)
    """Longest time of one attempt, resets left out."""
    run_seconds: float = Field(default=0, ge=0)
    """Longest time of the run, which is then interrupted and can be resumed; 0 for none."""
    unusable_replies: int = Field(default=3, ge=1)
    """Unusable replies in a row that end an attempt."""
    refused_actions: int = Field(default=10, ge=1)
    """Actions in a row that cannot be carried out and end an attempt."""
    attempt_usd: float = Field(default=0, ge=0)
    """What one attempt may cost; 0 for any price."""
    attempt_tokens: int = Field(default=0, ge=0)
    """What one attempt may take of tokens; 0 for any number."""


class ExperimentFile(Record):
    """An experiment as it is written down; see docs/agents.md."""

    name: str = Field(default="", pattern=r"^[A-Za-z0-9._-]*$")
    """Name of the experiment and of its folder; made from its content if left out."""
    protocol: str = "paper"
    """Module of `omnieval/protocols`."""
    agents: tuple[AgentEntry, ...] = Field(min_length=1)
    """Who is measured; a plain text is an agent without settings."""
    tasks: TaskSet = TaskSet()
    """On what."""
    variants: tuple[Variant, ...] = ("high",)
    """Which instructions are given."""
    repeats: int = Field(default=1, ge=1)
    """How often each agent attempts each task."""
    seed: int = 0
    """Seed of the first repeat; the others have the numbers after it."""
    limits: Limits = Limits()
    """Where attempts end."""
    quiet_seconds: float = Field(default=1.5, ge=0)
    """How long nothing may change, once an agent has ended, before the last look; 0 looks at once."""
    quiet_limit_seconds: float = Field(default=10, ge=0)
    """Longest wait for that."""
    ahead: int | None = Field(default=None, ge=0)
    """Environments that are made ready for the next attempts while others are in use; half as many as those
    if left out."""
    invalid_tries: int = Field(default=3, ge=1)
    """How often an attempt is begun, each time in a fresh environment, if it is invalid."""
    invalid_share: float = Field(default=0.05, ge=0, le=1)
    """Share of invalid attempts beyond which the figures do not hold."""

    @field_validator("agents", mode="before")
    @classmethod
    def _plain_agents(cls, value: object) -> object:
        if isinstance(value, list | tuple):
            return [{"agent": item} if isinstance(item, str) else item for item in value]
        return value

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        titles = [entry.title for entry in self.agents]
        twice = sorted({title for title in titles if titles.count(title) > 1})
        if twice:
            raise ValueError(f"two agents are called {twice[0]!r}; give one of them another `name`")
        return self

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds of the repeats, equal for all agents."""
        return tuple(self.seed + repeat for repeat in range(self.repeats))
