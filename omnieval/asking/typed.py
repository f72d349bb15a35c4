"""An agent that asks a chat model for one action as JSON per step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from taskloom.environments.agent import Decision
from taskloom.environments.annotated import annotate
from taskloom.environments.errors import UnusableReplyError
from taskloom.omnieval.brief import AgentBrief
from taskloom.prompts.actor_actions import action_of_reply, in_history
from taskloom.prompts.inputs import ActorInput
from taskloom.taskgraph.records.gestures import Coordinates
from taskloom.taskgraph.records.interaction import Observation, Screenshot
from taskloom.taskgraph.records.trajectory import TrajectoryStep

Shows = Literal["marks_and_list", "marks", "list", "picture"]
"""What is shown of the screen."""


@dataclass(slots=True)
class TypedAgent:
    """Asks anew at every step, with the steps so far in words; satisfies
    `taskloom.environments.agent.Agent`."""

    brief: AgentBrief
    """What it is made from; its setting `pictures` says how many of the last screens are shown."""
    shows: Shows
    """What is shown of the screen; by a picture alone the model points, in its setting `coordinates`."""

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The model's decision; errors as `AgentBrief.ask`, also where a function lacks what it needs."""
        brief, task = self.brief, self.brief.task
        coordinates: Coordinates = "labels"
        if self.shows == "picture":
            coordinates = cast(Coordinates, brief.settings.get("coordinates", "thousandths"))
        earlier = max(0, int(str(brief.settings.get("pictures", 1))) - 1)
        question = ActorInput(
            application=", ".join(item.name for item in task.applications),
            title=", ".join(item.title for item in task.applications),
            manual="\n\n".join(f"# {item.title}\n{item.manual}" for item in task.applications),
            instruction=instruction,
            history=tuple(in_history(step) for step in history),
            steps_left=max(0, task.step_limit - len(history)),
            window_title=observation.window_title,
            controls=observation.controls,
            coordinates=coordinates,
            screen_size=observation.screen_size,
            screenshot=observation.screenshot
            if self.shows in ("picture", "list")
            else Screenshot.of(annotate(observation, include_text=False)),
            shows=self.shows,
            own_prompt=brief.prompt,
            earlier=tuple(step.observation_screenshot for step in history[-earlier:] if earlier),
        )
        reply = await brief.ask(question)
        said = reply.model_dump_json(exclude_defaults=True)
        decided = Decision(status="finish", description=reply.observation, thought=reply.thought, reply=said)
        if reply.status == "FINISH":
            return decided.model_copy(update={"answer": reply.message})
        if reply.status == "GIVE_UP":
            return decided.model_copy(update={"status": "give_up", "message": reply.message})
        action = action_of_reply(reply, coordinates, observation.screen_size)
        if action is None:
            name = repr(reply.function or "of the reply")
            raise UnusableReplyError(f"The function {name} lacks what it needs; nothing was done.", said)
        return decided.model_copy(update={"status": "continue", "action": action})
