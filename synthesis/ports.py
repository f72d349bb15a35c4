"""What the stages ask of the world around them: models that answer, and environments to lease."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

from pydantic import BaseModel

from environments.environment import Environment
from model_clients.client import Prompt
from model_clients.roles import ModelRole

R = TypeVar("R", bound=BaseModel)


class Models(Protocol):
    """Models by role; `model_clients.asking.RoleModels` is one."""

    async def ask(
        self,
        role: ModelRole,
        prompt: Prompt,
        reply_type: type[R],
        *,
        stage: str,
        item_id: str,
        attempt: int = 0,
    ) -> R:
        """The typed reply.

        Raises:
            ModelClientError: no usable reply.
        """
        ...


class Environments(Protocol):
    """Where environments come from."""

    def lease(self, platform: str, applications: int = 1) -> AbstractAsyncContextManager[Environment]:
        """An environment of `platform` for so many `applications` that nobody else uses until the block ends."""
        ...
