"""Repeats the verified performances of a task in its most coherent order: what a perfect agent scores.

It ignores the instruction, so it says nothing about instructions; it shows that tasks and evaluator agree.
With `fault` in its settings it errs in a known way, which shows that the evaluator notices:

- `forgets_branch`: leaves out a subtask that nothing needs, and what is needed for it alone; of a chain only
  its end;
- `mixes_orders`: works in the least coherent order in which the task can succeed;
- `breaks_something`: first spoils a document that the instruction does not name, then does all of the work;
- `crashes`: raises an exception after its first step in every third attempt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from taskloom.environments.agent import Agent, Decision
from taskloom.environments.agents.recorded_agent import RecordedAgent
from taskloom.environments.errors import AgentError
from taskloom.environments.starting_place import StartingPlaceAgent
from taskloom.omnieval.brief import AgentBrief, RecordedPart
from taskloom.taskgraph.measures.coherency import coherency_score
from taskloom.taskgraph.records.interaction import ClickInput, KeyboardInput, Observation
from taskloom.taskgraph.records.trajectory import TrajectoryStep

FAULTS = ("", "forgets_branch", "mixes_orders", "breaks_something", "crashes")
"""Faults that can be asked for."""
_EVERY = 3


@dataclass(slots=True)
class RecordedTaskAgent:
    """Performs a task from the verified performances of its subtasks."""

    parts: list[Agent] = field(default_factory=list)
    """The remaining work, in order: for each subtask, the way to its starting place, then the recorded
    actions."""
    crash: bool = False
    """Whether to raise an exception after the first step."""
    breaking: bool = False
    """Whether to break something before the work is done."""
    _breaks: int = 0

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The next action of the current subtask, or on the way to its starting place."""
        if self.crash and history:
            raise ValueError("this agent was asked to crash")
        if self.breaking:
            spoilt = self._break(instruction, observation)
            if spoilt is not None:
                return spoilt
            self.breaking = False
        while self.parts:
            decision = await self.parts[0].decide(instruction, observation, history)
            if decision.status != "finish":
                return decision
            del self.parts[0]
        return Decision(status="finish")

    def _break(self, instruction: str, observation: Observation) -> Decision | None:
        """Open a document that the instruction does not name, write into it, and save."""
        self._breaks += 1
        usable = [control for control in observation.controls if not control.disabled]
        if self._breaks == 1:
            others = (item for item in usable if item.text not in instruction)
            found = next((item for item in others if item.control_type == "ListItem"), None)
            return (
                Decision(status="continue", action=ClickInput(control_label=found.label)) if found else None
            )
        if self._breaks == 2:
            found = next((item for item in reversed(usable) if item.control_type == "Edit"), None)
            action = KeyboardInput(control_label=found.label, keys="broken ") if found else None
            return Decision(status="continue", action=action) if action else None
        if self._breaks == 3:
            found = next((item for item in usable if item.text.startswith("Save")), None)
            return (
                Decision(status="continue", action=ClickInput(control_label=found.label)) if found else None
            )
        return None


def check(settings: Mapping[str, JsonValue]) -> None:
    """Check that there is such a fault.

    Raises:
        AgentError: there is not.
    """
    fault = settings.get("fault", "")
    if fault not in FAULTS:
        raise AgentError(f"The fault {fault!r} is unknown; known: {', '.join(FAULTS[1:])}.")


def create(brief: AgentBrief) -> Agent:
    """The agent, with the fault that its settings name.

    Raises:
        AgentError: there is no recording, or no such fault.
    """
    check(brief.settings)
    fault = brief.settings.get("fault", "")
    if not brief.recorded:
        raise AgentError("No verified performance of this task is stored.")
    recorded = _in_order(brief, mixed=fault == "mixes_orders")
    if fault == "forgets_branch":
        recorded = _without_a_branch(recorded)
    parts: list[Agent] = []
    used: set[str] = set()
    for part in recorded:
        left = part.application in used or fault == "breaks_something"
        first_page = left and not part.reads_open_page
        used.add(part.application)
        parts += [
            StartingPlaceAgent(part.application, part.title, first_page),
            RecordedAgent(part.trajectory),
        ]
    return RecordedTaskAgent(
        parts,
        crash=fault == "crashes" and brief.number % _EVERY == _EVERY - 1,
        breaking=fault == "breaks_something",
    )


def _without_a_branch(parts: Sequence[RecordedPart]) -> list[RecordedPart]:
    """The parts without the first that nothing needs, and without what it alone needs."""
    needed = {name for part in parts for name in part.needs}
    ends = [part.instance_id for part in parts if part.instance_id not in needed]
    gone = {ends[0]}
    if len(ends) > 1:
        for part in reversed(parts):
            users = {other.instance_id for other in parts if part.instance_id in other.needs}
            if users and users <= gone:
                gone.add(part.instance_id)
    return [part for part in parts if part.instance_id not in gone]


def _in_order(brief: AgentBrief, *, mixed: bool) -> list[RecordedPart]:
    """The parts in the successful order with the fewest changes of application, or with the most."""
    parts = {part.instance_id: part for part in brief.recorded}
    orders = brief.orders or (tuple(parts),)

    def coherency(order: Sequence[str]) -> int:
        return coherency_score([parts[name].application for name in order])

    return [parts[name] for name in (min if mixed else max)(orders, key=coherency)]
