"""A planner and an executor: one model writes a plan, another agent follows it (the asterisk in Table 4).

The planner is the model of the role `planner`. The setting `executor` names any built-in agent,
`marks_and_list` by default; it receives the task and the plan as its instruction, and the other settings.
"""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from taskloom.environments.agent import Agent, Decision
from taskloom.environments.errors import AgentError
from taskloom.omnieval.brief import AgentBrief
from taskloom.omnieval.lookup import AGENTS, check_agent_settings
from taskloom.prompts.agent_inputs import PlannerInput
from taskloom.taskgraph.records.interaction import Observation
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.trajectory import TrajectoryStep

MODEL = True
"""It asks a model."""
ROLES = (ModelRole.PLANNER,)
"""Further roles that it asks."""
_DEFAULT = "marks_and_list"


class PlannedAgent:
    """Asks for a plan before the first action."""

    def __init__(self, brief: AgentBrief, executor: Agent) -> None:
        self._brief, self._executor = brief, executor
        self._plan = ""

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The executor's decision."""
        if not self._plan:
            self._plan = await self._make_plan(instruction, observation)
        return await self._executor.decide(f"{instruction}\n\nPlan:\n{self._plan}", observation, history)

    async def _make_plan(self, instruction: str, observation: Observation) -> str:
        task = self._brief.task
        question = PlannerInput(
            instruction=instruction,
            applications=task.applications,
            step_limit=task.step_limit,
            screenshot=observation.screenshot,
        )
        reply = await self._brief.ask(question)
        return "\n".join(f"{number}. {step}" for number, step in enumerate(reply.steps, start=1))


def check(settings: Mapping[str, JsonValue]) -> None:
    """Raise an `AgentError` if the executor is a planner itself, unknown, or has a wrong setting."""
    name = str(settings.get("executor", _DEFAULT))
    if getattr(AGENTS.load(name), "ROLES", ()):
        raise AgentError(
            f"The executor {name!r} is a planner itself; name one that acts, such as {_DEFAULT}."
        )
    check_agent_settings(name, settings)


def create(brief: AgentBrief) -> Agent:
    """The agent."""
    name = str(brief.settings.get("executor", _DEFAULT))
    return PlannedAgent(brief, AGENTS.load(name).create(brief))
