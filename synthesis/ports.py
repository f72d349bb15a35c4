"""What the stages ask of the world around them: models that answer, and environments to lease."""

from collections.abc import Collection
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

from pydantic import BaseModel

from taskloom.environments.environment import Environment
from taskloom.prompts.prompt_input import PromptInput

R = TypeVar("R", bound=BaseModel)


class Models(Protocol):
    """Whoever plays the roles: models, or rules."""

    async def ask(self, question: PromptInput[R], *, stage: str, item_id: str, attempt: int = 0) -> R:
        """The typed reply to a question; equal questions have equal replies, a new `attempt` may have
        another.

        Raises:
            ModelClientError: no usable reply.
        """
        ...


class Environments(Protocol):
    """Where environments come from."""

    def lease(self, platform: str, applications: Collection[str]) -> AbstractAsyncContextManager[Environment]:
        """An environment of `platform` for `applications`, by name, that nobody else uses until the block
        ends."""
        ...
