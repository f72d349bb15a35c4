"""The typed input of the critic's prompt."""

from __future__ import annotations

from typing import ClassVar

from taskloom.prompts.inputs import NumberedSubtask
from taskloom.prompts.prompt_input import PromptInput
from taskloom.prompts.replies import CriticReply, DependencyPair
from taskloom.taskgraph.records.model_calls import ModelRole


class CriticInput(PromptInput[CriticReply]):
    """What the critic sees of a task: what is asked, what it consists of, and nothing of how it was made."""

    role: ClassVar[ModelRole] = ModelRole.CRITIC

    instruction: str
    """The instruction."""
    subtasks: tuple[NumberedSubtask, ...]
    """The subtasks in an order in which they can be done."""
    dependencies: tuple[DependencyPair, ...]
    """Which of them needs the result of which."""

    @property
    def reply_type(self) -> type[CriticReply]:
        """The record that the answer must be."""
        return CriticReply
