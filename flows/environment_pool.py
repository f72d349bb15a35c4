"""Environments that items lease, use and give back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from environments.environment import Environment
from environments.errors import EnvironmentFailure


class EnvironmentPool:
    """Up to `size` environments of each platform, made when first needed.

    An environment that broke is closed and replaced by a new one at the next lease, so one crash costs one item.
    """

    def __init__(self, create: Callable[[str], Environment], size: int) -> None:
        """Use `create(platform)` to make environments, at most `size` in use at once."""
        self._create = create
        self._slots = asyncio.Semaphore(size)
        self._idle: dict[str, list[Environment]] = {}
        self._all: list[Environment] = []

    @asynccontextmanager
    async def lease(self, platform: str) -> AsyncIterator[Environment]:
        """An environment of `platform` that nobody else uses until the block ends."""
        async with self._slots:
            idle = self._idle.setdefault(platform, [])
            environment = idle.pop() if idle else self._new(platform)
            try:
                yield environment
            except (EnvironmentFailure, asyncio.CancelledError):
                await self._discard(environment)
                raise
            except BaseException:
                idle.append(environment)
                raise
            idle.append(environment)

    async def close(self) -> None:
        """Close every environment, in use or not."""
        environments, self._all, self._idle = self._all, [], {}
        await asyncio.gather(*(environment.close() for environment in environments), return_exceptions=True)

    def _new(self, platform: str) -> Environment:
        environment = self._create(platform)
        self._all.append(environment)
        return environment

    async def _discard(self, environment: Environment) -> None:
        if environment in self._all:
            self._all.remove(environment)
        await environment.close()
