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
"""File with the turn; its modification time says when the attempt last waited."""
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
    """What an attempt shows to the person who decides what to do next."""

    token: str = Field(pattern=r"^[0-9a-f]{32}$")
    """Name of this turn, which cannot be guessed; its picture is `<token>.png`."""
    attempt_id: str
    """The attempt."""
    began: float = 0.0
    """When the attempt began, in seconds since 1970."""
    instruction: str
    """What is to be done."""
    question: str = ""
    """The question to answer; empty without one."""
    step: int = Field(ge=1)
    """Number of the next step."""
    step_limit: int
    """Maximum number of steps."""
    window_title: str = ""
    """Title of the window in front."""
    screen_size: tuple[int, int]
    """Width and height of the picture."""
    problem: str = ""
    """Why the last action was not carried out."""
    told: str = ""
    """What the user has said since the last turn."""
    can_ask: bool = False
    """Whether questions to the user are answered."""


class Move(Record):
    """What a person does in a turn, in the form of an agent's decision."""

    status: Literal["continue", "finish", "give_up", "ask_user"]
    """As in the decisions of agents."""
    action: Action | None = None
    """The action, for `continue`."""
    message: str = Field(default="", max_length=2000)
    """Reason for giving up, or the question to the user."""
    answer: str = Field(default="", max_length=2000)
    """Answer to the question."""

    @model_validator(mode="after")
    def _require_matching_action(self) -> Self:
        if (self.status == "continue") != (self.action is not None):
            raise ValueError("a move has an action if and only if its status is 'continue'")
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
"""How an attempt ended.

`partial` and `failed`: the agent said that it was done, and some or none of it was; `stalled`: nothing was
completed for as many steps as patience allows; `invalid`: a cause outside the agent, such as an application
that died. Empty in rows of earlier versions.
"""


class CompletedSubtask(Record):
    """A node of the task whose evaluation function accepted the state that the agent had reached."""

    instance_id: str
    """The node."""
    step: int
    """Step after which its evaluation function first accepted."""


class UnfinishedSubtask(Record):
    """A node that could be done and was not, with the last verdict of its evaluation function."""

    instance_id: str
    """The node."""
    checks: tuple[str, ...] = ()
    """Checks that it called and that answered no, each once."""
    said: str = ""
    """Its message, or why it gave no answer."""


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
    """Which of the task's instructions it was given: `high`, `low`, `order 1`, `intent`, `ask` or
    `news`."""
    repeat: int = 0
    """Number of the repeat, from 0."""
    end: End = ""
    """How it ended."""
    instruction: str
    """The instruction that the agent was given."""
    completed: tuple[CompletedSubtask, ...] = ()
    """Subtasks in the order they were completed."""
    unfinished: tuple[UnfinishedSubtask, ...] = ()
    """Subtasks that could be done at the end and were not completed, with what is missing."""
    ungradable: tuple[str, ...] = ()
    """Nodes whose evaluation function accepted before anything was done; they never count as completed."""
    coverage_rate: float = 0.0
    """Depth-weighted share of completed subtasks, 0 to 1."""
    logical_consistency: float | None = None
    """Coherency score of the order of completion, divided by the maximum; None if that is 0."""
    further_metrics: dict[str, float] = Field(default_factory=dict)
    """Values of other metrics by name, without undefined ones."""
    success: bool = False
    """Whether every subtask was completed and the question, if any, answered; of an impossible task, whether
    it was refused and nothing was changed."""
    held: bool | None = None
    """Whether everything completed still held at the end; None if that was not checked."""
    clean: bool | None = None
    """Whether nothing else was changed; None if that was not checked."""
    answer: str = ""
    """The agent's answer to the question."""
    answered: bool | None = None
    """Whether the answer is right; None without a question."""
    side_effects: SideEffects | None = None
    """What it changed beyond the outcome, scored separately from success; None if that is unknown."""
    lost: tuple[str, ...] = ()
    """Completed subtasks whose result is gone at the end."""
    steps: int = 0
    """Steps the agent made."""
    outcome: str = ""
    """The end as the evaluator saw it: `completed`, `stalled`, `step_limit` or `finished_early`; `invalid`
    for an attempt that neither passed nor failed, because it did not start in the state that the task needs
    or the environment failed."""
    termination: Termination = "finished"
    """How the agent ended."""
    message: str = ""
    """Reason for an end other than `finished`."""
    seconds: float = 0.0
    """Time from the first observation to the end, without waiting for an environment and its reset."""
    decision_seconds: float = 0.0
    """Time that the agent's decisions took."""
    environment_seconds: float = 0.0
    """Time that actions and observations took."""
    calls: int = 0
    """Model calls."""
    input_tokens: int = 0
    """Input of all calls."""
    output_tokens: int = 0
    """Output of all calls."""
    unusable_replies: int = 0
    """Replies that contained no action."""
    refused_actions: int = 0
    """Actions that could not be carried out."""
    invalid_before: tuple[str, ...] = ()
    """Why earlier tries of this attempt were invalid; they are not scored."""
    trajectory_id: str = ""
    """The recording."""
    provenance: Provenance = Provenance()
    """Where it comes from, with the agent's model, the price of its calls, and the seed it was given."""


class AgentStep(Record):
    """One decision of an attempt, with what its recording does not contain."""

    agent_run_id: str
    """The attempt."""
    step: int
    """The step of its recording."""
    reply: str = ""
    """The model's reply, word for word."""
    point: tuple[int, int] | None = None
    """Pixel of the picture that it pointed at; None for keys and waits."""
    problem: str = ""
    """Why the action could not be carried out; empty when it was."""
    unusable: bool = False
    """Whether the reply contained no action."""
    states: dict[str, str] = Field(default_factory=dict)
    """State of every subtask after it: `Waiting`, `Evaluating` or `Completed`."""
    completed: tuple[str, ...] = ()
    """Subtasks that it completed."""
    decision_seconds: float = 0.0
    """Time that the decision took."""
    environment_seconds: float = 0.0
    """Time that the action and the observation after it took."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class AgentScore(Record):
    """The value of one metric for one attempt."""

    agent_run_id: str
    """The attempt."""
    metric: str
    """Name of the metric: a module of `omnieval/metrics`, or `success`, `held`, `clean`, `answered`."""
    experiment_id: str = ""
    """The experiment."""
    value: float | None = None
    """Its value; None if it is undefined."""
    functions_hash: str = ""
    """Hash of the evaluation functions that it was computed with."""
    scored_at: str = ""
    """Time of scoring, ISO 8601 in UTC."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


ExperimentStatus = Literal["running", "completed", "interrupted", "budget_exhausted"]
"""How far an experiment got."""
_SMALLEST_P_VALUE = 0.0005
"""Smallest p-value that three digits can show."""


class Standing(Record):
    """A figure of one agent with its confidence interval."""

    agent: str
    """The agent."""
    metric: str
    """What was measured, such as `coverage_rate` or `pass@4`."""
    group: str = "all"
    """Attempts that it covers: `all`, a capability, or a level such as `knowledge hard`."""
    value: float | None = None
    """The figure; None if it is undefined."""
    low: float | None = None
    """Lower end of its 95 % bootstrap interval over tasks."""
    high: float | None = None
    """Upper end."""
    tasks: int = 0
    """Number of tasks that it covers."""


class Comparison(Record):
    """Two agents on the same tasks and seeds."""

    first: str
    """One agent."""
    second: str
    """The other."""
    metric: str
    """What was measured."""
    difference: float
    """Mean of the first minus mean of the second agent, over the tasks that both attempted."""
    low: float
    """Lower end of its 95 % bootstrap interval."""
    high: float
    """Upper end."""
    p_value: float
    """P-value of a two-sided paired permutation test."""
    tasks: int
    """Number of tasks that both attempted."""

    @property
    def probability(self) -> str:
        """The p-value as text; it is never zero, because the test counts the observed signs too."""
        return f"{self.p_value:.3f}" if self.p_value >= _SMALLEST_P_VALUE else "< 0.001"


class Experiment(Record):
    """Agents × tasks × repeats, as they were fixed before the first attempt."""

    experiment_id: str
    """Its name; by default the agent's, with a hash of everything that determines the attempts."""
    name: str
    """Name of the experiment and of its folder."""
    protocol: str
    """Module of `omnieval/protocols` that it follows."""
    specification: dict[str, JsonValue] = Field(default_factory=dict)
    """The whole experiment file, with defaults."""
    agents: tuple[str, ...] = ()
    """Names of its agents."""
    task_ids: tuple[str, ...] = ()
    """Its tasks."""
    seeds: tuple[int, ...] = ()
    """Seeds of the repeats."""
    attempts: int = 0
    """Number of planned attempts."""
    hashes: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of its inputs: tasks, functions, applications, prompts of agents, specification."""
    software_version: str = ""
    """Version of taskloom."""
    status: ExperimentStatus = "running"
    """How far it got."""
    holds: bool | None = None
    """Whether few enough attempts are invalid for its figures to be reliable; None before it is complete."""
    standings: tuple[Standing, ...] = ()
    """Its figures."""
    comparisons: tuple[Comparison, ...] = ()
    """Comparisons of its agents."""
    started_at: str = ""
    """Start, ISO 8601 in UTC."""
    finished_at: str = ""
    """End; empty while it runs."""
    folder: str = ""
    """Where its files are."""
    provenance: Provenance = Provenance()
    """Where it comes from."""
