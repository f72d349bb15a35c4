"""Trajectories: recorded observations and actions of one episode (App. C.2)."""

from typing import Literal

from taskloom.resources.applications import ControlQuery
from taskloom.resources.record import Record
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Action, Control, Screenshot
from taskloom.taskgraph.records.provenance import Provenance

Termination = Literal[
    "finished",
    "gave_up",
    "step_limit",
    "environment_error",
    "model_error",
    "invalid_start",
    "agent_error",
    "out_of_time",
    "unusable_replies",
    "refused_actions",
    "attempt_budget",
]
"""How an episode ended; `finished` means that the agent said so, not that it is true; `invalid_start` that
nothing was done, because the initial state was not what the work needs; `agent_error` that the agent's own
code failed."""


SlipMark = Literal["", "slip", "recovery"]
"""Whether a step is a deliberate mistake (`slip`) or undoes one (`recovery`); empty for all others."""


class TrajectoryStep(Record):
    """One step: observation, action and its result."""

    step: int
    """Number, from 1."""
    observation_screenshot: Screenshot
    """Screen before the action."""
    observation_controls: tuple[Control, ...] = ()
    """Controls before the action."""
    description: str = ""
    """What the agent said it saw."""
    thought: str = ""
    """Why it acted."""
    action: Action
    """What it did."""
    target: ControlQuery | None = None
    """The control acted on, described so that it can be found again in another episode."""
    target_rectangle: tuple[int, int, int, int] | None = None
    """Its rectangle at that time (left, top, right, bottom), for exports; replay uses it only to turn the
    wheel if the control is missing."""
    end_target: ControlQuery | None = None
    """The control that a drag ended on, if it is another one."""
    change: str = ""
    """What the action changed on the screen, in a few words; empty if it was not carried out."""
    problem: str = ""
    """Why the action could not be carried out; empty when it was. Replay omits such steps."""
    told: str = ""
    """Message of the user after the step: an answer, or news."""
    slip: SlipMark = ""
    """`slip` for a harmless deliberate mistake, which no model should learn; `recovery` for undoing it."""
    evidence: Evidence
    """Evidence after the action."""


class Trajectory(Record):
    """One recorded episode of one bound subtask."""

    trajectory_id: str
    """Opaque id."""
    subtask_id: str
    """The subtask."""
    instance_id: str
    """The subtask bound to its parameters."""
    parameters: dict[str, str]
    """The parameter set."""
    world: str = ""
    """World whose data it starts with; empty for the first."""
    instruction: str
    """The instantiated instruction."""
    platform: str
    """Environment platform."""
    simulated: bool = False
    """Whether the platform only simulates applications."""
    initial_evidence: Evidence
    """State after reset."""
    steps: tuple[TrajectoryStep, ...] = ()
    """The steps."""
    closing_evidence: Evidence | None = None
    """State once everything was quiet after the last step; None if that was not waited for."""
    termination: Termination
    """How it ended."""
    answer: str = ""
    """The agent's answer at the end."""
    message: str = ""
    """Reason for an end other than `finished`."""
    attempt: int = 0
    """Number of the recording among those of the same instance."""
    provenance: Provenance = Provenance()
    """Where it comes from."""

    @property
    def final_evidence(self) -> Evidence:
        """The closing evidence, or else that after the last step."""
        if self.closing_evidence is not None:
            return self.closing_evidence
        return self.steps[-1].evidence if self.steps else self.initial_evidence
