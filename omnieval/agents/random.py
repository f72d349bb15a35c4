"""Acts at random: clicks and types on any visible control; stops after `steps` actions (a setting, 20)."""

from collections.abc import Sequence
from random import Random

from taskloom.environments.agent import Decision
from taskloom.omnieval.brief import AgentBrief
from taskloom.taskgraph.records.interaction import ClickInput, KeyboardInput, Observation
from taskloom.taskgraph.records.trajectory import TrajectoryStep


class RandomAgent:
    """The baseline that every agent should beat."""

    def __init__(self, brief: AgentBrief) -> None:
        self._random = Random(brief.seed)
        self._steps = int(str(brief.settings.get("steps", 20)))

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """An action on a random control; a word of the instruction is typed into a field."""
        usable = [control for control in observation.controls if not control.disabled]
        if len(history) >= self._steps or not usable:
            return Decision(status="finish")
        control = self._random.choice(usable)
        if control.control_type == "Edit":
            word = self._random.choice(instruction.split() or ["a"])
            keys = "".join(filter(str.isalnum, word)) or "a"
            return Decision(status="continue", action=KeyboardInput(control_label=control.label, keys=keys))
        return Decision(status="continue", action=ClickInput(control_label=control.label))


create = RandomAgent
