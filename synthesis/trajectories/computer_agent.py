"""An actor that operates the screen through its provider's computer tool, in one conversation per
performance."""

from __future__ import annotations

from collections.abc import Sequence

from taskloom.environments.agent import Decision
from taskloom.environments.computer_use.conversation import ComputerConversation, SafetyPolicy
from taskloom.environments.errors import AgentError
from taskloom.model_clients.errors import CallFailedError
from taskloom.prompts.inputs import ComputerActorInput
from taskloom.synthesis.ports import Models
from taskloom.synthesis.trajectories.briefing import Briefing
from taskloom.synthesis.trajectories.settled_ends import EndCheck
from taskloom.taskgraph.records.computer_use import ComputerReply, ComputerTurn
from taskloom.taskgraph.records.interaction import Observation, Screenshot
from taskloom.taskgraph.records.trajectory import TrajectoryStep

_STAGE = "trajectories"


class ComputerAgent:
    """Asks the actor model, and asks again, once, where it wants to finish while something is open that was
    not at the start; satisfies `taskloom.environments.agent.Agent`."""

    def __init__(self, models: Models, briefing: Briefing, safety: SafetyPolicy = "refuse") -> None:
        """With what the actor is told of the performance."""
        self._models, self._briefing = models, briefing
        self._end = EndCheck()
        self._conversation = ComputerConversation(self._ask, safety, self._may_end)

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The next action of the model's calls, or of those that it makes when these are done.

        Raises:
            AgentError: the model refused or gave no usable reply.
            ModelClientError: calls cannot go on at all.
        """
        if not history:
            self._end.begin(observation.controls)
        return await self._conversation.decide(instruction, observation, history)

    def _may_end(self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]) -> bool:
        return not self._end.objects(instruction, observation.controls, history)

    async def _ask(
        self, instruction: str, first: Screenshot, turns: tuple[ComputerTurn, ...]
    ) -> ComputerReply:
        told = self._briefing
        question = ComputerActorInput(
            application=told.application.name,
            title=told.application.title,
            manual=told.application.manual,
            instruction=instruction,
            feedback=(*told.feedback, *self._end.objections),
            step_limit=told.step_limit,
            screenshot=first,
            turns=turns,
        )
        try:
            return await self._models.ask(question, stage=_STAGE, item_id=told.item_id, attempt=told.attempt)
        except CallFailedError as error:
            raise AgentError(str(error)) from error
