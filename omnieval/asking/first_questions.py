"""Hashes of agents' first prompts, obtained by having them ask about one invented task. Equal hashes mean
equal prompts, including templates, formats, declared functions, own prompts and the protocol's instruction.
"""

import hashlib
import io
import json
from dataclasses import dataclass, field
from typing import TypeVar

from PIL import Image
from pydantic import BaseModel

from taskloom.environments.errors import AgentError
from taskloom.omnieval.brief import AgentBrief, AgentTask
from taskloom.omnieval.experiments import AgentEntry
from taskloom.omnieval.lookup import AGENTS, PROTOCOLS
from taskloom.prompts.agent_inputs import ApplicationInView, PlanReply
from taskloom.prompts.prompt_input import PromptInput
from taskloom.taskgraph.records.interaction import Control, Observation, Rectangle, Screenshot

R = TypeVar("R", bound=BaseModel)
_SIZE = (64, 64)
_TASK = AgentTask(
    task_id="made-up",
    instruction="Write a note.",
    applications=(ApplicationInView(name="notes", title="Notes", manual="# Notes\n- Save keeps the note."),),
    question="How many are there?",
    can_ask=True,
)


@dataclass(slots=True)
class _RecordingModels:
    """Models that record their prompts. They answer only a planner, so that its executor asks as well."""

    recorded: list[object] = field(default_factory=list)

    async def ask(self, question: PromptInput[R], *, stage: str, item_id: str, attempt: int = 0) -> R:
        prompt = question.rendered()
        self.recorded += [prompt.template_hash, prompt.system, prompt.user, list(question.functions)]
        if question.reply_type is PlanReply:
            return question.reply_type.model_validate({"steps": ["Write."]})
        raise AgentError("These models only record their prompts.")


async def prompt_hash(entry: AgentEntry, protocol_name: str) -> str:
    """SHA-256 of the instruction that a protocol gives an agent, and of the agent's first prompt.

    Agents in the user's own code are not run: their hash covers only the instruction.
    """
    instruction = PROTOCOLS.load(protocol_name).instruction(_TASK)
    models = _RecordingModels()
    if entry.agent in AGENTS and getattr(AGENTS.load(entry.agent), "MODEL", False):
        brief = AgentBrief(
            task=_TASK.model_copy(update={"instruction": instruction}),
            settings=entry.settings,
            prompt=entry.prompt,
            models=models,
        )
        try:
            await AGENTS.load(entry.agent).create(brief).decide(instruction, _screen(), ())
        except Exception as error:  # an exception of another package's agent is no reason to refuse it
            models.recorded.append(type(error).__name__)
    return hashlib.sha256(json.dumps([instruction, *models.recorded], sort_keys=True).encode()).hexdigest()


def _screen() -> Observation:
    picture = io.BytesIO()
    Image.new("RGB", _SIZE, "white").save(picture, "PNG")
    button = Control(
        label="1", text="Save", control_type="Button", rectangle=Rectangle(left=8, top=8, right=40, bottom=24)
    )
    return Observation(
        screenshot=Screenshot.of(picture.getvalue()),
        controls=(button,),
        window_title="Notes",
        screen_size=_SIZE,
    )
