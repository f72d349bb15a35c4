"""Repeats the verified performances of a task in its most coherent order: the score of a perfect agent.

It ignores the instruction, so it does not test instructions; it shows that tasks and evaluator agree. It
knows the answer to the task's question, and gives up on impossible tasks. With the setting `fault` it errs in
a known way, which shows that the evaluator notices:

- `forgets_branch`: omits a subtask that no other needs, and whatever only that one needs; of a chain, only
  the last subtask;
- `mixes_orders`: works in the least coherent order in which the task can succeed;
- `breaks_something`: first does a subtask that the instruction does not ask for, then all of the work;
- `insists`: works on impossible tasks, and answers no questions;
- `crashes`: raises an exception after its first step in every third attempt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from taskloom.environments.agent import Agent, Decision
from taskloom.environments.agents.recorded_agent import RecordedAgent
from taskloom.environments.errors import AgentError
from taskloom.environments.starting_place import StartingPlaceAgent
from taskloom.omnieval.brief import AgentBrief, RecordedPart
from taskloom.taskgraph.measures.coherency import coherency_score
from taskloom.taskgraph.records.interaction import Observation
from taskloom.taskgraph.records.trajectory import TrajectoryStep

FAULTS = ("", "forgets_branch", "mixes_orders", "breaks_something", "insists", "crashes")
"""Values of the setting `fault`."""
_CRASH_PERIOD = 3


@dataclass(slots=True)
class RecordedTaskAgent:
    """Performs a task from the verified performances of its subtasks."""

    parts: list[Agent] = field(default_factory=list)
    """The remaining work, in order: for each subtask, the way to its starting place, then the recorded
    actions."""
    crash: bool = False
    """Whether to raise an exception after the first step."""
    refusal: str = ""
    """Reason for giving up at once; empty to work."""
    answer: str = ""
    """Answer at the end."""

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The next action of the current subtask, or towards its starting place."""
        if self.crash and history:
            raise ValueError("this agent was asked to crash")
        if self.refusal:
            return Decision(status="give_up", message=self.refusal)
        while self.parts:
            decision = await self.parts[0].decide(instruction, observation, history)
            if decision.status != "finish":
                return decision
            del self.parts[0]
        return Decision(status="finish", answer=self.answer)


def check(settings: Mapping[str, JsonValue]) -> None:
    """Check the setting `fault`; raises an `AgentError` if it is unknown."""
    fault = settings.get("fault", "")
    if fault not in FAULTS:
        raise AgentError(f"The fault {fault!r} is unknown; known: {', '.join(FAULTS[1:])}.")


def create(brief: AgentBrief) -> Agent:
    """The agent with the fault in its settings; an `AgentError` if that is unknown or nothing is recorded."""
    check(brief.settings)
    fault = brief.settings.get("fault", "")
    if not brief.recorded:
        raise AgentError("No verified performance of this task is stored.")
    recorded = _sort_parts(brief, mixed=fault == "mixes_orders")
    if fault == "forgets_branch":
        recorded = _remove_branch(recorded)
    if fault == "breaks_something":
        unrelated = brief.beside()
        if unrelated is None:
            raise AgentError("No performance of anything that the task does not ask for is stored.")
        recorded = [unrelated, *recorded]
    parts: list[Agent] = []
    used: set[str] = set()
    for part in recorded:
        first_page = part.application in used and not part.reads_open_page
        used.add(part.application)
        parts.append(StartingPlaceAgent(part.application, part.title, first_page))
        parts.append(RecordedAgent(part.trajectory))
    insists = fault == "insists"
    return RecordedTaskAgent(
        parts,
        crash=fault == "crashes" and brief.number % _CRASH_PERIOD == _CRASH_PERIOD - 1,
        refusal="" if insists else brief.impossible,
        answer="" if insists else brief.answer,
    )


def _remove_branch(parts: Sequence[RecordedPart]) -> list[RecordedPart]:
    """The parts without the first one that no other needs, and without what only that one needs."""
    needed = {name for part in parts for name in part.needs}
    ends = [part.instance_id for part in parts if part.instance_id not in needed]
    removed = {ends[0]}
    if len(ends) > 1:
        for part in reversed(parts):
            users = {other.instance_id for other in parts if part.instance_id in other.needs}
            if users and users <= removed:
                removed.add(part.instance_id)
    return [part for part in parts if part.instance_id not in removed]


def _sort_parts(brief: AgentBrief, *, mixed: bool) -> list[RecordedPart]:
    """The parts in the successful order with the fewest changes of application, or with the most."""
    parts = {part.instance_id: part for part in brief.recorded}
    orders = brief.orders or (tuple(parts),)

    def coherency(order: Sequence[str]) -> int:
        return coherency_score([parts[name].application for name in order])

    return [parts[name] for name in (min if mixed else max)(orders, key=coherency)]
