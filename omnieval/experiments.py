"""Experiments: their file with agents, tasks, repeats and limits; the attempts that follow from it; and how
attempts end."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Final, Literal, Self

from pydantic import Field, JsonValue, field_validator, model_validator

from taskloom.environments.agents.perceiving import Perception
from taskloom.model_clients.settings import ModelSettings
from taskloom.omnieval.lookup import PROTOCOLS
from taskloom.omnieval.scoring import Outcome
from taskloom.resources.record import Record
from taskloom.taskgraph.records.agent_run import End
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Termination

Variant = Literal["high", "low", "orders", "intent", "ask", "news"]
"""Which instructions agents are given: `high`, the task's; `low`, those of its subtasks in order; `orders`,
the task's in its other orders (Table 8); `intent`, the task's after its goal; `ask`, the task's without one
value, which the user gives when asked; `news`, with a wrong value, which a message from the user corrects
after the first step. The right result is always that of the task."""


class AgentEntry(Record):
    """One agent of an experiment."""

    agent: str
    """A built-in agent, or the user's own `module:factory`."""
    name: str = ""
    """Its name in tables; by default that of its model or of the agent."""
    model: ModelSettings | None = None
    """The model that it asks; by default that of the role `actor`."""
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    """Its own settings."""
    perception: Perception | None = None
    """What it sees of a screen besides the controls."""
    prompt: str = ""
    """Its own system prompt, a Jinja template; an experiment's file may name a file as `prompt_file`."""

    @property
    def title(self) -> str:
        """Its name in tables.

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
    """Folder of an export whose tasks are used; one of its sets after a colon, as in `released:test`."""
    version: str = ""
    """Dataset version from which the tasks are read; empty for the present state."""
    size: int | None = Field(default=None, ge=1)
    """Maximum number of tasks."""
    seed: int = 0
    """Seed of the sample of tasks; independent of the agents' seed."""
    questions: bool = False
    """Whether tasks that read a table are also attempted with a question about it."""
    impossible: bool = False
    """Whether tasks that read a file are also attempted without it, if they were shown to be impossible."""
    twins: bool = False
    """Whether the chain twins of the tasks are also attempted (Figure 7)."""


class Limits(Record):
    """Limits of attempts and of the run."""

    steps: int = Field(default=0, ge=0)
    """Maximum steps of an attempt; 0 for the protocol's."""
    patience: int = Field(default=0, ge=0)
    """Steps without a completed subtask after which an attempt has failed (the paper's N); 0 for the
    protocol's."""
    decision_seconds: float = Field(default=300, gt=0)
    """Time limit of one decision."""
    attempt_seconds: float = Field(default=3600, gt=0)
    """Time limit of one attempt, without resets."""
    run_seconds: float = Field(default=0, ge=0)
    """Time limit of the run, which is then interrupted and can be resumed; 0 for none."""
    unusable_replies: int = Field(default=3, ge=1)
    """Consecutive unusable replies that end an attempt."""
    refused_actions: int = Field(default=10, ge=1)
    """Consecutive refused actions that end an attempt."""
    attempt_usd: float = Field(default=0, ge=0)
    """Maximum cost of one attempt; 0 for no limit."""
    attempt_tokens: int = Field(default=0, ge=0)
    """Maximum tokens of one attempt; 0 for no limit."""


class ExperimentFile(Record):
    """The file of an experiment; see docs/agents.md."""

    name: str = Field(default="", pattern=r"^[A-Za-z0-9._-]*$")
    """Name of the experiment and of its folder; by default made from its content."""
    protocol: str = "paper"
    """Module of `omnieval/protocols`."""
    agents: tuple[AgentEntry, ...] = Field(min_length=1)
    """The agents to measure; a plain string is an agent without settings."""
    tasks: TaskSet = TaskSet()
    """The tasks to attempt."""
    variants: tuple[Variant, ...] = ("high",)
    """Which instructions are given."""
    repeats: int = Field(default=1, ge=1)
    """How often each agent attempts each task."""
    seed: int = 0
    """Seed of the first repeat; further repeats use the following numbers."""
    limits: Limits = Limits()
    """Limits of attempts and of the run."""
    quiet_seconds: float = Field(default=1.5, ge=0)
    """How long nothing may change, once an agent has ended, before the final observation; 0 for no wait."""
    quiet_limit_seconds: float = Field(default=10, ge=0)
    """Maximum wait for that."""
    ahead: int | None = Field(default=None, ge=0)
    """Environments prepared for the next attempts while others are in use; by default half as many as those
    in use."""
    invalid_tries: int = Field(default=3, ge=1)
    """Maximum number of starts of an invalid attempt, each time in a fresh environment."""
    invalid_share: float = Field(default=0.05, ge=0, le=1)
    """Share of invalid attempts above which the figures are unreliable."""

    @field_validator("agents", mode="before")
    @classmethod
    def _expand_names(cls, value: object) -> object:
        if isinstance(value, list | tuple):
            return [{"agent": item} if isinstance(item, str) else item for item in value]
        return value

    @model_validator(mode="after")
    def _require_distinct_titles(self) -> Self:
        titles = [entry.title for entry in self.agents]
        duplicates = sorted({title for title in titles if titles.count(title) > 1})
        if duplicates:
            raise ValueError(f"two agents are called {duplicates[0]!r}; give one of them another `name`")
        return self

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds of the repeats, equal for all agents."""
        return tuple(self.seed + repeat for repeat in range(self.repeats))


class AgentOrder(Record):
    """One agent and how it is measured."""

    experiment_id: str
    """The experiment."""
    experiment: ExperimentFile
    """The experiment's file."""
    entry: AgentEntry
    """The agent."""
    provider: str = ""
    """Provider of its model; empty without one."""
    model: str = ""
    """Its model; empty without one."""
    step_limit: int
    """Maximum steps of an attempt."""
    patience: int
    """Steps without a completed subtask that end an attempt."""


class InstructionVariant(Record):
    """An instruction of a task and the user's messages (`taskloom.environments.agent.Companion`)."""

    variant: str
    """Name of the variant in attempts."""
    instruction: str
    """The instruction at the start."""
    reply: str = ""
    """The user's answer to any question; empty if questions are not answered."""
    news: str = ""
    """The user's message after the first step; empty for none."""

    def says(self, question: str, step: int) -> str:
        """The user's messages to the agent after `step`.

        >>> variant = InstructionVariant(variant="ask", instruction="", reply="I mean 3.", news="Stop.")
        >>> variant.says("Which?", 4), variant.says("", 1)
        ('I mean 3.', 'Stop.')
        """
        messages = [self.reply if question else "", self.news if step == 1 else ""]
        return " ".join(filter(None, messages))


class PlannedAttempt(InstructionVariant):
    """An attempt that is to be made."""

    attempt_id: str
    """Opaque id, equal in every run of the experiment."""
    task_id: str
    """The task."""
    repeat: int
    """Number among equal attempts, from 0."""
    seed: int
    """Seed of the agent."""
    number: int
    """Number among all attempts of the agent, from 0."""


def order_for(
    experiment: ExperimentFile, experiment_id: str, entry: AgentEntry, tasks: Sequence[Task]
) -> AgentOrder:
    """The order for one agent; limits that the experiment omits are those of its protocol."""
    defaults = PROTOCOLS.load(experiment.protocol).LIMITS
    longest = max((len(task.graph.nodes) for task in tasks), default=1)
    steps = experiment.limits.steps or defaults.steps or defaults.steps_per_subtask * longest
    return AgentOrder(
        experiment_id=experiment_id,
        experiment=experiment,
        entry=entry,
        provider=entry.model.provider if entry.model else "",
        model=entry.model.model if entry.model else "",
        step_limit=steps,
        patience=experiment.limits.patience or defaults.patience or steps + 1,
    )


def attempts_for(
    experiment: ExperimentFile, experiment_id: str, entry: AgentEntry, tasks: Sequence[Task]
) -> Iterator[PlannedAttempt]:
    """All attempts of one agent, beginning with the first repeat of every task."""
    number = 0
    for repeat, seed in enumerate(experiment.seeds):
        for task in tasks:
            for item in instruction_variants(task, experiment.variants):
                yield PlannedAttempt(
                    **dict(item),
                    attempt_id=f"{experiment_id}:{entry.title}:{task.task_id}:{item.variant}:{repeat}",
                    task_id=task.task_id,
                    repeat=repeat,
                    seed=seed,
                    number=number,
                )
                number += 1


def instruction_variants(task: Task, variants: Sequence[Variant]) -> Iterator[InstructionVariant]:
    """The instructions of `task` in these variants, skipping those that it lacks."""
    value = _find_unique_value(task)
    for variant in variants:
        if variant == "high":
            yield InstructionVariant(variant=variant, instruction=task.instruction)
        elif variant == "low":
            yield InstructionVariant(variant=variant, instruction="\n".join(task.low_level_instructions))
        elif variant == "intent" and task.intent:
            yield InstructionVariant(variant=variant, instruction=f"Goal: {task.intent}\n{task.instruction}")
        elif variant == "ask" and value:
            incomplete = task.instruction.replace(value, "(ask me which)")
            yield InstructionVariant(variant=variant, instruction=incomplete, reply=f"I mean {value}.")
        elif variant == "news" and value:
            stem, dot, suffix = value.rpartition(".")
            other = f"{stem}-draft{dot}{suffix}" if dot else f"{value} draft"
            wrong = task.instruction.replace(value, other)
            news = f"I have changed my mind: not {other}, but {value}."
            yield InstructionVariant(variant=variant, instruction=wrong, news=news)
        elif variant == "orders":
            for number, text in enumerate(task.permuted_instructions, start=1):
                yield InstructionVariant(variant=f"order {number}", instruction=text)


def _find_unique_value(task: Task) -> str:
    """The longest value of a subtask that occurs in the instruction exactly once; empty if there is none."""
    values = {value for node in task.graph.nodes for value in node.parameters.values()}
    unique = [value for value in values if len(value) > 2 and task.instruction.count(value) == 1]
    return max(sorted(unique), key=len, default="")


def digest(value: object) -> str:
    """SHA-256 of a value that JSON can represent.

    >>> digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})
    True
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


INVALID: Final[frozenset[Termination]] = frozenset({"environment_error", "invalid_start"})
"""Ends of an episode that an agent cannot have caused."""
_ENDS: Final[dict[Termination, End]] = {
    "gave_up": "gave_up",
    "step_limit": "out_of_steps",
    "out_of_time": "out_of_time",
    "model_error": "agent_error",
    "agent_error": "agent_error",
    "unusable_replies": "unusable_replies",
    "refused_actions": "refused_action",
    "attempt_budget": "budget",
}


def end_of(termination: Termination, outcome: Outcome, *, success: bool, completed: int) -> End:
    """How an attempt ended, from the end of its episode and the evaluator's outcome.

    Complete work is a success however the agent ended afterwards; an invalid attempt is always `invalid`.

    >>> end_of("step_limit", "running", success=False, completed=2)
    'out_of_steps'
    >>> end_of("finished", "finished_early", success=False, completed=2)
    'partial'
    >>> end_of("environment_error", "completed", success=True, completed=2)
    'invalid'
    """
    if termination in INVALID:
        return "invalid"
    if success:
        return "success"
    if termination in _ENDS:
        return _ENDS[termination]
    ends: dict[Outcome, End] = {"step_limit": "out_of_steps", "stalled": "stalled"}
    return ends.get(outcome, "partial" if completed else "failed")
