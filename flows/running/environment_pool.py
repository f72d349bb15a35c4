"""Environments that items lease, use and give back."""

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
"""How often others are served before the item that waits longest: there is room for them, or an environment
just ran their application."""
_LOOK_EVERY = 10.0
"""Seconds between two looks at what the machine has left."""


@dataclass(slots=True, eq=False)
class _Waiting:
    """An item that waits for an environment."""

    platform: str
    applications: frozenset[str]
    passed_over: int = 0
    turn: asyncio.Event = field(default_factory=asyncio.Event)


class EnvironmentPool:
    """Up to `size` environments per platform, created on first use; a broken one is replaced.

    An application goes to the environment that ran it last: its server may run on, and its files are cached.
    """

    def __init__(
        self,
        create: Callable[[str], Environment],
        size: int,
        machine: SpareCapacity | None = None,
        look_every: float = _LOOK_EVERY,
        free: Callable[[], float] = free_gb,
    ) -> None:
        """Create environments with `create(platform)`, with at most `size` in use at once.

        With a `machine`, which is asked every `look_every` seconds, `size` is how many there are at first.
        What is `free` of memory, in 10^9 bytes, limits how many applications are open at once.
        """
        self._size = size
        self._machine, self._look_every = machine, look_every
        self._looking: asyncio.Task[None] | None = None
        self._create = create
        self._free = size
        self._free_memory = free
        self._in_use = 0
        self._turns: asyncio.Semaphore | None = None
        self._waiting: list[_Waiting] = []
        self._idle: dict[str, list[tuple[Environment, frozenset[str]]]] = {}
        self._all: list[Environment] = []

    def make_ahead(self, environments: int | None) -> None:
        """Lease `environments` more than may be acted in at a time, so that they are reset meanwhile; None
        for half as many as those. The first call counts."""
        if self._turns is None:
            if environments is None:
                environments = math.ceil(self._size / 2)
            self._turns = asyncio.Semaphore(self._free)
            self._free += environments

    def turn(self) -> AbstractAsyncContextManager[object]:
        """What is entered before acting: as many at a time as the pool has, those ahead left out."""
        return nullcontext() if self._turns is None else self._turns

    @asynccontextmanager
    async def lease(self, platform: str, applications: Collection[str]) -> AsyncIterator[Environment]:
        """Exclusive use of an environment of `platform` until the block ends.

        Waits until there is memory for the `applications`, by name, beside those in use, or none are in use.
        """
        names = frozenset(applications)
        await self._enter(platform, names)
        try:
            idle = self._idle.setdefault(platform, [])
            environment = idle.pop(_best(names, idle))[0] if idle else self._new(platform)
            try:
                yield environment
            except (EnvironmentFailureError, asyncio.CancelledError):
                await self._discard(environment)
                raise
            except BaseException:
                idle.append((environment, names))
                raise
            if self._free < 0:  # the machine does not feed as many any more
                await self._discard(environment)
                return
            try:
                if not self._waiting:
                    await environment.rest()  # pages that nobody uses take memory, and some a part of a core
            except EnvironmentFailureError:
                await self._discard(environment)
            else:
                idle.append((environment, names))
        finally:
            self._free += 1
            self._in_use -= len(names)
            self._serve()

    async def _enter(self, platform: str, applications: frozenset[str]) -> None:
        if self._machine is not None and self._looking is None:
            self._looking = asyncio.create_task(self._keep_fitting(self._machine))
        waiting = _Waiting(platform, applications)
        self._waiting.append(waiting)
        self._serve()
        try:
            await waiting.turn.wait()
        except asyncio.CancelledError:
            if waiting.turn.is_set():
                self._free += 1
                self._in_use -= len(applications)
            else:
                self._waiting.remove(waiting)
            self._serve()
            raise

    async def _keep_fitting(self, machine: SpareCapacity) -> None:
        """From time to time, take one environment more while items wait and there is room, or one less."""
        while True:
            await asyncio.sleep(self._look_every)
            change = machine.change(self._size)
            if (change > 0 and self._waiting) or (change < 0 and self._turns is None):
                self._size += change
                self._free += change
                if self._turns is not None:
                    self._turns.release()
                self._serve()
                idle = next(filter(None, self._idle.values()), None)
                if change < 0 and idle and self._free >= 0:
                    await self._discard(idle.pop(0)[0])

    def _serve(self) -> None:
        """Let those go on who can: first whose applications an idle environment ran, then who came first."""
        while self._waiting and self._free > 0:
            first = self._waiting[0]
            asked = self._waiting if first.passed_over < _MOST_PASSED_OVER else [first]
            room = self._free_memory() / _GB_OF_APPLICATION - self._in_use
            fitting = [item for item in asked if not self._in_use or len(item.applications) <= room]
            if not fitting:
                return
            chosen = next((item for item in fitting if self._is_warm(item)), fitting[0])
            if chosen is not first:
                first.passed_over += 1
            self._waiting.remove(chosen)
            self._free -= 1
            self._in_use += len(chosen.applications)
            chosen.turn.set()

    def _is_warm(self, waiting: _Waiting) -> bool:
        idle = self._idle.get(waiting.platform, ())
        return any(not waiting.applications.isdisjoint(ran) for _, ran in idle)

    async def close(self) -> None:
        """Close every environment, in use or not."""
        if self._looking is not None:
            self._looking.cancel()
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


def _best(names: Collection[str], idle: Sequence[tuple[Environment, frozenset[str]]]) -> int:
    """Position of the idle environment that ran most of `names` last; of equals, the one given back last."""
    return max(range(len(idle)), key=lambda at: (len(idle[at][1].intersection(names)), at))
