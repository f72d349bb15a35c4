"""The typed inputs of the critic's prompts: about a task, and about an attempt at one."""

from __future__ import annotations

from typing import ClassVar

from taskloom.prompts.inputs import NumberedSubtask, StepInHistory
from taskloom.prompts.prompt_input import PromptInput
from taskloom.prompts.replies import AttemptCriticReply, CriticReply, DependencyPair
from taskloom.taskgraph.records.interaction import Screenshot
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


class AttemptCriticInput(PromptInput[AttemptCriticReply]):
    """What the critic sees of an attempt: what was asked and done, and nothing of how rules judge it."""

    role: ClassVar[ModelRole] = ModelRole.CRITIC
    template: ClassVar[str] = "attempt_critic"

    instruction: str
    """What the agent was told."""
    steps: tuple[StepInHistory, ...]
    """What it did."""
    ending: str
    """How the attempt ended, with the agent's last words."""
    screenshot: Screenshot
    """The last screen."""

    @property
    def reply_type(self) -> type[AttemptCriticReply]:
        """The record that the answer must be."""
        return AttemptCriticReply

    @property
    def images(self) -> tuple[Screenshot, ...]:
        """The last screen."""
        return (self.screenshot,) if self.screenshot.png else ()
