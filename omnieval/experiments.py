"""Experiments: agents, tasks, repeats and limits as they are written down, the attempts that they ask for,
and how these end."""

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


class AgentOrder(Record):
    """One agent, and how it is measured."""

    experiment_id: str
    """The experiment."""
    experiment: ExperimentFile
    """What it asks for."""
    entry: AgentEntry
    """The agent."""
    provider: str = ""
    """Provider of its model; empty without one."""
    model: str = ""
    """Its model; empty without one."""
    step_limit: int
    """Most steps of an attempt."""
    patience: int
    """Steps without a completed subtask that end one."""


class Telling(Record):
    """One way to tell a task, and what the user says in it (`taskloom.environments.agent.Companion`)."""

    variant: str
    """Name that attempts give it."""
    instruction: str
    """What is told at the start."""
    reply: str = ""
    """What the user answers to any question; empty where nobody answers."""
    news: str = ""
    """What the user says after the first step; empty for nothing."""

    def says(self, question: str, step: int) -> str:
        """What the agent hears after `step`.

        >>> asked = Telling(variant="ask", instruction="", reply="I mean 3.", news="Stop.")
        >>> asked.says("Which?", 4), asked.says("", 1)
        ('I mean 3.', 'Stop.')
        """
        heard = [self.reply if question else "", self.news if step == 1 else ""]
        return " ".join(filter(None, heard))


class PlannedAttempt(Telling):
    """One attempt before it is made."""

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
    """The order of one agent; limits that the experiment leaves open are those of its protocol."""
    usual = PROTOCOLS.load(experiment.protocol).LIMITS
    longest = max((len(task.graph.nodes) for task in tasks), default=1)
    steps = experiment.limits.steps or usual.steps or usual.steps_per_subtask * longest
    return AgentOrder(
        experiment_id=experiment_id,
        experiment=experiment,
        entry=entry,
        provider=entry.model.provider if entry.model else "",
        model=entry.model.model if entry.model else "",
        step_limit=steps,
        patience=experiment.limits.patience or usual.patience or steps + 1,
    )


def attempts_for(
    experiment: ExperimentFile, experiment_id: str, entry: AgentEntry, tasks: Sequence[Task]
) -> Iterator[PlannedAttempt]:
    """All attempts of one agent, the first repeat of every task first."""
    number = 0
    for repeat, seed in enumerate(experiment.seeds):
        for task in tasks:
            for telling in told(task, experiment.variants):
                yield PlannedAttempt(
                    **dict(telling),
                    attempt_id=f"{experiment_id}:{entry.title}:{task.task_id}:{telling.variant}:{repeat}",
                    task_id=task.task_id,
                    repeat=repeat,
                    seed=seed,
                    number=number,
                )
                number += 1


def told(task: Task, variants: Sequence[Variant]) -> Iterator[Telling]:
    """The ways to tell `task`; one that it lacks is left out."""
    value = _value_told_once(task)
    for variant in variants:
        if variant == "high":
            yield Telling(variant=variant, instruction=task.instruction)
        elif variant == "low":
            yield Telling(variant=variant, instruction="\n".join(task.low_level_instructions))
        elif variant == "intent" and task.intent:
            yield Telling(variant=variant, instruction=f"Goal: {task.intent}\n{task.instruction}")
        elif variant == "ask" and value:
            held_back = task.instruction.replace(value, "(ask me which)")
            yield Telling(variant=variant, instruction=held_back, reply=f"I mean {value}.")
        elif variant == "news" and value:
            stem, dot, suffix = value.rpartition(".")
            other = f"{stem}-draft{dot}{suffix}" if dot else f"{value} draft"
            wrong = task.instruction.replace(value, other)
            news = f"I have changed my mind: not {other}, but {value}."
            yield Telling(variant=variant, instruction=wrong, news=news)
        elif variant == "orders":
            for number, text in enumerate(task.permuted_instructions, start=1):
                yield Telling(variant=f"order {number}", instruction=text)


def _value_told_once(task: Task) -> str:
    """The longest value of a subtask that the instruction says exactly once; empty if there is none."""
    values = {value for node in task.graph.nodes for value in node.parameters.values()}
    fitting = [value for value in values if len(value) > 2 and task.instruction.count(value) == 1]
    return max(sorted(fitting), key=len, default="")


def digest(value: object) -> str:
    """SHA-256 of a value that JSON can hold.

    >>> digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})
    True
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


INVALID: Final[frozenset[Termination]] = frozenset({"environment_error", "invalid_start"})
"""What an agent cannot have caused."""
_OF_AGENT: Final[dict[Termination, End]] = {
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
    """How an attempt ended, from how its episode did and what the evaluator saw.

    Work that is complete is a success however the agent ended afterwards; what is invalid is nothing else.

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
    if termination in _OF_AGENT:
        return _OF_AGENT[termination]
    ended: dict[Outcome, End] = {"step_limit": "out_of_steps", "stalled": "stalled"}
    return ended.get(outcome, "partial" if completed else "failed")
