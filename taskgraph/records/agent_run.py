"""How an agent did on a task: what it completed, in which order, and how that scores (section 4.1)."""

from __future__ import annotations

from pydantic import Field

from taskloom.resources.record import Record
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.side_effects import SideEffects
from taskloom.taskgraph.records.trajectory import Termination


class CompletedSubtask(Record):
    """A node of the task whose evaluation function accepted the state that the agent had reached."""

    instance_id: str
    """The node."""
    step: int
    """Step after which its evaluation function first accepted."""


class AgentRun(Record):
    """One attempt of one agent at one task."""

    agent_run_id: str
    """Opaque id: agent, task and number of the attempt."""
    agent: str
    """Name of the agent, such as `my_package.agents:make`."""
    task_id: str
    """The task."""
    instruction: str
    """What the agent was told."""
    completed: tuple[CompletedSubtask, ...] = ()
    """Subtasks in the order they were completed."""
    ungradable: tuple[str, ...] = ()
    """Nodes whose evaluation function accepted before the agent did anything; they never count as
    completed."""
    coverage_rate: float = 0.0
    """Depth-weighted share of completed subtasks, 0 to 1."""
    logical_consistency: float | None = None
    """Coherency score of the order of completion over the largest possible; None where that is 0."""
    further_metrics: dict[str, float] = Field(default_factory=dict)
    """Values of other metrics by name; one that is undefined is missing."""
    success: bool = False
    """Whether every subtask was completed."""
    side_effects: SideEffects | None = None
    """What it changed beyond the outcome, a score beside success; None where nothing could be judged."""
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
    """Wall time."""
    trajectory_id: str = ""
    """The recording."""
    provenance: Provenance = Provenance()
    """Where it comes from."""
