"""Environments that items lease, use and return."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field

from taskloom.environments.environment import Environment
from taskloom.environments.errors import EnvironmentFailureError
from taskloom.flows.spare_capacity import SpareCapacity, free_gb

_GB_OF_APPLICATION = 0.15
"""An open application, with its server and page, takes 0.10 to 0.15 GB; most items need one, composed tasks
up to eight."""
_MOST_PASSED_OVER = 8
"""How often other items may overtake the longest-waiting one, because there is room for them or an
environment just ran their application."""
_CHECK_SECONDS = 10.0
"""Seconds between two checks of the machine's spare capacity."""


@dataclass(slots=True, eq=False)
class _Waiter:
    """An item that waits for an environment."""

    platform: str
    applications: frozenset[str]
    passed_over: int = 0
    turn: asyncio.Event = field(default_factory=asyncio.Event)


class EnvironmentPool:
    """Up to `size` environments per platform, created on first use; a broken one is replaced.

    An application goes to the environment that ran it last: its server may still run, its files are cached.
    """

    def __init__(
        self,
        create: Callable[[str], Environment],
        size: int,
        machine: SpareCapacity | None = None,
        look_every: float = _CHECK_SECONDS,
        free: Callable[[], float] = free_gb,
    ) -> None:
        """Create environments with `create(platform)`, with at most `size` in use at once.

        With a `machine`, which is checked every `look_every` seconds, `size` is the initial number. The
        `free` memory, in 10^9 bytes, limits how many applications are open at once.
        """
        self._size = size
        self._machine, self._look_every = machine, look_every
        self._adjusting: asyncio.Task[None] | None = None
        self._create = create
        self._free = size
        self._free_memory = free
        self._open = 0
        self._turns: asyncio.Semaphore | None = None
        self._waiters: list[_Waiter] = []
        self._idle: dict[str, list[tuple[Environment, frozenset[str]]]] = {}
        self._all: list[Environment] = []

    def make_ahead(self, environments: int | None) -> None:
        """Allow `environments` more leases than may act at a time, to reset them meanwhile; None for half of
        the size. Only the first call counts."""
        if self._turns is None:
            if environments is None:
                environments = math.ceil(self._size / 2)
            self._turns = asyncio.Semaphore(self._free)
            self._free += environments

    def turn(self) -> AbstractAsyncContextManager[object]:
        """A context to enter before acting; admits as many items as there are environments not made ahead."""
        return nullcontext() if self._turns is None else self._turns

    @asynccontextmanager
    async def lease(self, platform: str, applications: Collection[str]) -> AsyncIterator[Environment]:
        """Exclusive use of an environment of `platform` until the block ends.

        Waits until there is memory for the `applications` (names) besides those in use, or none are in use.
        """
        names = frozenset(applications)
        await self._wait_for_turn(platform, names)
        try:
            idle = self._idle.setdefault(platform, [])
            environment = idle.pop(_best_match(names, idle))[0] if idle else self._new(platform)
            try:
                yield environment
            except (EnvironmentFailureError, asyncio.CancelledError):
                await self._discard(environment)
                raise
            except BaseException:
                idle.append((environment, names))
                raise
            if self._free < 0:  # the machine can no longer run this many
                await self._discard(environment)
                return
            try:
                if not self._waiters:
                    await environment.rest()  # unused pages take memory, and some take processor time
            except EnvironmentFailureError:
                await self._discard(environment)
            else:
                idle.append((environment, names))
        finally:
            self._free += 1
            self._open -= len(names)
            self._admit_waiters()

    async def _wait_for_turn(self, platform: str, applications: frozenset[str]) -> None:
        if self._machine is not None and self._adjusting is None:
            self._adjusting = asyncio.create_task(self._keep_adjusting(self._machine))
        waiter = _Waiter(platform, applications)
        self._waiters.append(waiter)
        self._admit_waiters()
        try:
            await waiter.turn.wait()
        except asyncio.CancelledError:
            if waiter.turn.is_set():
                self._free += 1
                self._open -= len(applications)
            else:
                self._waiters.remove(waiter)
            self._admit_waiters()
            raise

    async def _keep_adjusting(self, machine: SpareCapacity) -> None:
        """Repeatedly add an environment while items wait and there is room, or remove one."""
        while True:
            await asyncio.sleep(self._look_every)
            change = machine.change(self._size)
            if (change > 0 and self._waiters) or (change < 0 and self._turns is None):
                self._size += change
                self._free += change
                if self._turns is not None:
                    self._turns.release()
                self._admit_waiters()
                idle = next(filter(None, self._idle.values()), None)
                if change < 0 and idle and self._free >= 0:
                    await self._discard(idle.pop(0)[0])

    def _admit_waiters(self) -> None:
        """Admit items that fit: first those whose applications an idle environment ran, then the oldest."""
        while self._waiters and self._free > 0:
            first = self._waiters[0]
            candidates = self._waiters if first.passed_over < _MOST_PASSED_OVER else [first]
            room = self._free_memory() / _GB_OF_APPLICATION - self._open
            fitting = [item for item in candidates if not self._open or len(item.applications) <= room]
            if not fitting:
                return
            chosen = next((item for item in fitting if self._is_warm(item)), fitting[0])
            if chosen is not first:
                first.passed_over += 1
            self._waiters.remove(chosen)
            self._free -= 1
            self._open += len(chosen.applications)
            chosen.turn.set()

    def _is_warm(self, waiter: _Waiter) -> bool:
        idle = self._idle.get(waiter.platform, ())
        return any(not waiter.applications.isdisjoint(ran) for _, ran in idle)

    async def close(self) -> None:
        """Close every environment, in use or not."""
        if self._adjusting is not None:
            self._adjusting.cancel()
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


def _best_match(names: Collection[str], idle: Sequence[tuple[Environment, frozenset[str]]]) -> int:
    """Index of the idle environment that last ran most of `names`; among equals, the one returned last."""
    return max(range(len(idle)), key=lambda index: (len(idle[index][1].intersection(names)), index))
