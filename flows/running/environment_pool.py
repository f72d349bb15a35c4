"""Environments that items lease, use and give back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from taskloom.environments.environment import Environment
from taskloom.environments.errors import EnvironmentFailureError

_APPLICATIONS_EACH = 2.5
"""Average number of applications that may be open per environment. An open application, with its server and
page, takes 100 to 150 MB; most items need one, composed tasks up to six."""


def _no_place(_: str) -> AbstractAsyncContextManager[None]:
    return nullcontext()


class EnvironmentPool:
    """Up to `size` environments per platform, created on first use.

    A broken environment is closed and replaced at the next lease, so a crash costs one item.
    """

    def __init__(
        self,
        create: Callable[[str], Environment],
        size: int,
        shared_place: Callable[[str], AbstractAsyncContextManager[None]] = _no_place,
    ) -> None:
        """Create environments with `create(platform)`, with at most `size` in use at once.

        A lease also takes a `shared_place(platform)`, which other processes may hold.
        """
        self._create = create
        self._shared_place = shared_place
        self._free = size
        self._room = max(1, round(size * _APPLICATIONS_EACH))
        self._in_use = 0
        self._turns: asyncio.Semaphore | None = None
        self._waiting = 0
        self._changed = asyncio.Event()
        self._idle: dict[str, list[Environment]] = {}
        self._all: list[Environment] = []

    def make_ahead(self, environments: int) -> None:
        """Lease `environments` more than may be acted in at a time, so that they are reset meanwhile; the
        first call counts."""
        if self._turns is None:
            self._turns = asyncio.Semaphore(self._free)
            self._free += environments
            self._room += round(environments * _APPLICATIONS_EACH)

    def turn(self) -> AbstractAsyncContextManager[object]:
        """What is entered before acting: as many at a time as the pool has environments, those ahead left
        out."""
        return nullcontext() if self._turns is None else self._turns

    @asynccontextmanager
    async def lease(self, platform: str, applications: int = 1) -> AsyncIterator[Environment]:
        """Exclusive use of an environment of `platform` until the block ends.

        Waits until `applications` more may be open beside those in use, or none are in use.
        """
        await self._enter(applications)
        try:
            idle = self._idle.setdefault(platform, [])
            environment = idle.pop() if idle else self._new(platform)
            try:
                async with self._shared_place(platform):
                    yield environment
            except (EnvironmentFailureError, asyncio.CancelledError):
                await self._discard(environment)
                raise
            except BaseException:
                idle.append(environment)
                raise
            if not self._waiting:
                await environment.rest()  # pages that nobody uses take memory, and some a part of a core
            idle.append(environment)
        finally:
            self._leave(applications)

    async def _enter(self, applications: int) -> None:
        self._waiting += 1
        try:
            while not self._fits(applications):
                self._changed.clear()
                await self._changed.wait()
        finally:
            self._waiting -= 1
        self._free -= 1
        self._in_use += applications

    def _leave(self, applications: int) -> None:
        self._free += 1
        self._in_use -= applications
        self._changed.set()

    def _fits(self, applications: int) -> bool:
        return self._free > 0 and (not self._in_use or self._in_use + applications <= self._room)

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
