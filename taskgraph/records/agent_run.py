"""How an agent did on a task and how that scores (section 4.1); what the viewer and a person exchange."""

import hashlib
from typing import Final, Literal, Self

from pydantic import Field, JsonValue, model_validator

from taskloom.resources.record import Record
from taskloom.taskgraph.records.effect import SideEffects
from taskloom.taskgraph.records.interaction import Action
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.trajectory import Termination

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


End = Literal[
    "",
    "success",
    "partial",
    "failed",
    "stalled",
    "gave_up",
    "out_of_steps",
    "out_of_time",
    "agent_error",
    "unusable_replies",
    "refused_action",
    "budget",
    "invalid",
]
"""How an attempt ended, by one name.

`partial` and `failed`: the agent said that it was done, and some or none of it was; `stalled`: nothing was
completed for as many steps as patience allows; `invalid`: what the agent cannot have caused, such as an
application that died. Empty in rows of earlier versions.
"""


class CompletedSubtask(Record):
    """A node of the task whose evaluation function accepted the state that the agent had reached."""

    instance_id: str
    """The node."""
    step: int
    """Step after which its evaluation function first accepted."""


class UnfinishedSubtask(Record):
    """A node of the task that could be done, and was not: what its evaluation function said last."""

    instance_id: str
    """The node."""
    checks: tuple[str, ...] = ()
    """Checks that it asked and that said no, each once."""
    said: str = ""
    """Its words, or why it gave no answer."""


class AgentRun(Record):
    """One attempt of one agent at one task."""

    agent_run_id: str
    """Opaque id: agent, task and number of the attempt."""
    experiment_id: str = ""
    """The experiment that it belongs to."""
    agent: str
    """Name of the agent, such as `my_package.agents:make`, or of its model."""
    task_id: str
    """The task."""
    variant: str = "high"
    """Which of the task's instructions it was given: `high`, `low`, `order 1`, `intent` or `no intent`."""
    repeat: int = 0
    """Which of the equal attempts it is, from 0."""
    end: End = ""
    """How it ended."""
    instruction: str
    """What the agent was told."""
    completed: tuple[CompletedSubtask, ...] = ()
    """Subtasks in the order they were completed."""
    unfinished: tuple[UnfinishedSubtask, ...] = ()
    """Subtasks that could be done at the end and were not completed, with what their functions miss."""
    ungradable: tuple[str, ...] = ()
    """Nodes whose evaluation function accepted before anything was done; they never count as completed."""
    coverage_rate: float = 0.0
    """Depth-weighted share of completed subtasks, 0 to 1."""
    logical_consistency: float | None = None
    """Coherency score of the order of completion over the largest possible; None where that is 0."""
    further_metrics: dict[str, float] = Field(default_factory=dict)
    """Values of other metrics by name; one that is undefined is missing."""
    success: bool = False
    """Whether every subtask was completed, or the question answered."""
    held: bool | None = None
    """Whether all that was completed still held at the end; None where that was not looked at."""
    clean: bool | None = None
    """Whether nothing was changed beyond the outcome; None where that was not looked at."""
    answer: str = ""
    """What the agent answered."""
    answered: bool | None = None
    """Whether that is right; None where nothing was asked."""
    side_effects: SideEffects | None = None
    """What it changed beyond the outcome, a score beside success; None where nothing could be judged."""
    lost: tuple[str, ...] = ()
    """Completed subtasks whose work is not there at the end."""
    steps: int = 0
    """Steps the agent made."""
    outcome: str = ""
    """How the evaluator saw it end: `completed`, `stalled`, `step_limit` or `finished_early`; `invalid` for
    an attempt that is neither passed nor failed, because its start was not what the task needs or the
    environment failed."""
    termination: Termination = "finished"
    """How the agent ended."""
    message: str = ""
    """Why, for an end other than `finished`."""
    seconds: float = 0.0
    """Time from the first look to the end, without waiting for an environment and its reset."""
    decision_seconds: float = 0.0
    """Time the agent took."""
    environment_seconds: float = 0.0
    """Time that actions and looks at the screen took."""
    calls: int = 0
    """Model calls."""
    input_tokens: int = 0
    """All their input."""
    output_tokens: int = 0
    """All their output."""
    unusable_replies: int = 0
    """Replies that were no action."""
    refused_actions: int = 0
    """Actions that could not be carried out."""
    invalid_before: tuple[str, ...] = ()
    """Why earlier tries of this attempt were invalid; they count for nothing."""
    trajectory_id: str = ""
    """The recording."""
    provenance: Provenance = Provenance()
    """Where it comes from, with the agent's model, the price of its calls, and the seed it was given."""


class AgentStep(Record):
    """One decision of an attempt: what the recording does not say of it."""

    agent_run_id: str
    """The attempt."""
    step: int
    """The step of its recording."""
    reply: str = ""
    """What the model said, word for word."""
    point: tuple[int, int] | None = None
    """Where on the picture it pointed; None for keys and waits."""
    problem: str = ""
    """Why the action could not be carried out; empty when it was."""
    unusable: bool = False
    """Whether the reply was no action at all."""
    states: dict[str, str] = Field(default_factory=dict)
    """State of every subtask after it: `Waiting`, `Evaluating` or `Completed`."""
    completed: tuple[str, ...] = ()
    """Subtasks that it completed."""
    decision_seconds: float = 0.0
    """Time the agent took."""
    environment_seconds: float = 0.0
    """Time that the action and the look after it took."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class AgentScore(Record):
    """What one metric says of one attempt."""

    agent_run_id: str
    """The attempt."""
    metric: str
    """Name of the metric: a module of `omnieval/metrics`, or `success`, `held`, `clean`, `answered`."""
    experiment_id: str = ""
    """The experiment."""
    value: float | None = None
    """Its value; None where it is undefined."""
    functions_hash: str = ""
    """Hash of the evaluation functions that it was computed with."""
    scored_at: str = ""
    """When, ISO 8601 in UTC."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


ExperimentStatus = Literal["running", "completed", "interrupted", "budget_exhausted"]
"""How far an experiment got."""
_SMALLEST = 0.0005
"""Smallest p-value that three digits tell."""


class Standing(Record):
    """A figure of one agent with its interval."""

    agent: str
    """The agent."""
    metric: str
    """What was measured, such as `coverage_rate` or `pass@4`."""
    group: str = "all"
    """Over which attempts: `all`, a capability, or a level such as `knowledge hard`."""
    value: float | None = None
    """The figure; None where it is undefined."""
    low: float | None = None
    """Lower end of its 95 % bootstrap interval over tasks."""
    high: float | None = None
    """Upper end."""
    tasks: int = 0
    """Tasks it is over."""


class Comparison(Record):
    """Two agents on the same tasks and seeds."""

    first: str
    """One agent."""
    second: str
    """The other."""
    metric: str
    """What was measured."""
    difference: float
    """Mean of the first minus mean of the second, over the tasks that both attempted."""
    low: float
    """Lower end of its 95 % bootstrap interval."""
    high: float
    """Upper end."""
    p_value: float
    """Of a two-sided paired permutation test."""
    tasks: int
    """Tasks that both attempted."""

    @property
    def probability(self) -> str:
        """The p-value in words; it is never nought: the observed signs are among those that are tried."""
        return f"{self.p_value:.3f}" if self.p_value >= _SMALLEST else "< 0.001"


class Experiment(Record):
    """Agents × tasks × repeats, as they were fixed before the first attempt."""

    experiment_id: str
    """Opaque id, made from all that decides what is attempted."""
    name: str
    """Name, and that of its folder."""
    protocol: str
    """Module of `omnieval/protocols` that it follows."""
    specification: dict[str, JsonValue] = Field(default_factory=dict)
    """All of it, as written in its file, with defaults."""
    agents: tuple[str, ...] = ()
    """Names of its agents."""
    task_ids: tuple[str, ...] = ()
    """Its tasks."""
    seeds: tuple[int, ...] = ()
    """Seeds of the repeats."""
    attempts: int = 0
    """Attempts it asks for."""
    hashes: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of what it rests on: tasks, functions, applications, questions to agents, specification."""
    software_version: str = ""
    """Version of taskloom."""
    status: ExperimentStatus = "running"
    """How far it got."""
    holds: bool | None = None
    """Whether few enough attempts are invalid for its figures to hold; None before it is complete."""
    standings: tuple[Standing, ...] = ()
    """Its figures."""
    comparisons: tuple[Comparison, ...] = ()
    """Agents side by side."""
    started_at: str = ""
    """Start, ISO 8601 in UTC."""
    finished_at: str = ""
    """End; empty while it runs."""
    folder: str = ""
    """Where its files are."""
    provenance: Provenance = Provenance()
    """Where it comes from."""
