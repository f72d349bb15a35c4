"""What the stages need from outside: models that answer, and environments to lease."""

from collections.abc import Collection
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from taskloom.environments.environment import Environment
from taskloom.prompts.prompt_input import Models as Models


class Environments(Protocol):
    """The source of environments."""

    def lease(self, platform: str, applications: Collection[str]) -> AbstractAsyncContextManager[Environment]:
        """An environment for `applications`, by name, that nobody else uses until the block ends."""
        ...
