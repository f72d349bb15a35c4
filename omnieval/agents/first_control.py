"""Clicks the first usable control `steps` times (a setting, 5 by default): the simplest baseline."""

from collections.abc import Sequence

from taskloom.environments.agent import Decision
from taskloom.omnieval.brief import AgentBrief
from taskloom.taskgraph.records.interaction import ClickInput, Observation
from taskloom.taskgraph.records.trajectory import TrajectoryStep


class FirstControlAgent:
    """An agent that always clicks the first usable control."""

    def __init__(self, brief: AgentBrief) -> None:
        self._steps = int(str(brief.settings.get("steps", 5)))

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """A click on the first usable control that is not a text."""
        usable = [item for item in observation.controls if not item.disabled and item.control_type != "Text"]
        if len(history) >= self._steps or not usable:
            return Decision(status="finish")
        return Decision(status="continue", action=ClickInput(control_label=usable[0].label))


create = FirstControlAgent
