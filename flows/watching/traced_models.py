"""Model calls as spans in the traces of their items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from taskloom.flows.watching.telemetry import stage_span
from taskloom.prompts.prompt_input import PromptInput
from taskloom.synthesis.ports import Models

R = TypeVar("R", bound=BaseModel)


@dataclass(slots=True)
class TracedModels:
    """Asks others, with a span around every question."""

    others: Models
    """Who is asked."""

    async def ask(self, question: PromptInput[R], *, stage: str, item_id: str, attempt: int = 0) -> R:
        """The reply of the others.

        Raises:
            ModelClientError: no usable reply.
        """
        with stage_span(f"ask {question.role}", item_id, stage=stage, attempt=attempt):
            return await self.others.ask(question, stage=stage, item_id=item_id, attempt=attempt)
