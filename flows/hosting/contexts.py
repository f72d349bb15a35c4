"""What a step works with, opened inside the step from a reference to the run.

A flow opens the objects of its run (browsers, databases, models) once and keeps them open. A step in the same
process and event loop uses those; in another thread, process or machine it opens its own from its settings,
and the last step there closes them. Steps therefore take and return plain records only, never live objects.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from time import monotonic

from taskloom.flows.fan_out.fanning import fanned_out
from taskloom.flows.running.cancellation import cancellable
from taskloom.flows.settings import Settings
from taskloom.flows.stages.growing import PoolGrowth
from taskloom.flows.stages.making import TaskMaking
from taskloom.flows.watching.watched import watched
from taskloom.flows.wiring import Run, join_run, open_run
from taskloom.resources.record import Record


class RunReference(Record):
    """The run that a step belongs to: everything it needs to open its context, wherever it runs."""

    run_id: str
    """The run."""
    settings: Settings
    """Its settings."""


class Work:
    """What the steps of one run share in one process; parts are created on first use."""

    def __init__(self, run: Run, *, joined: bool = False) -> None:
        """Work for `run`; `joined` says that the flow itself runs elsewhere."""
        self.run = run
        self.joined = joined
        self.reference = RunReference(run_id=run.run_id, settings=run.settings)

    @cached_property
    def growth(self) -> PoolGrowth:
        """Explores and verifies."""
        return PoolGrowth.of(self.run, joined=self.joined)

    @cached_property
    def making(self) -> TaskMaking:
        """Composes, validates and replays."""
        return TaskMaking(self.run, self.growth.verified)


@dataclass(slots=True)
class _Shared:
    work: Work | None = None
    users: int = 0
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    resources: AsyncExitStack = field(default_factory=AsyncExitStack)


_open: dict[tuple[str, int], _Shared] = {}
"""What is open in this process, by run and event loop: connections belong to a loop."""


@asynccontextmanager
async def begin(settings: Settings, flow: str, *, quiet: bool = False) -> AsyncIterator[Work]:
    """Open a run of `flow` for its steps, and keep it open until the block ends.

    Raises:
        CommandError: no wanted application is installed, or one is unknown.
    """
    async with cancellable(), open_run(settings, flow, quiet=quiet) as run:
        work = Work(run)
        key = run.run_id, id(asyncio.get_running_loop())
        _open[key] = _Shared(work, users=1)
        try:
            async with watched(run), fanned_out(run, lambda names: work.making.subtasks(names)):
                yield work
        finally:
            del _open[key]


@asynccontextmanager
async def opened(reference: RunReference) -> AsyncIterator[Work]:
    """The context of a step with this reference; what the step recorded is stored when the block ends."""
    key = reference.run_id, id(asyncio.get_running_loop())
    shared = _open.setdefault(key, _Shared())
    shared.users += 1
    try:
        async with shared.opening:
            if shared.work is None:
                joining = join_run(reference.settings, reference.run_id)
                shared.work = Work(await shared.resources.enter_async_context(joining), joined=True)
        yield shared.work
    finally:
        shared.users -= 1
        if not shared.users:
            del _open[key]
            await shared.resources.aclose()


@contextmanager
def timed(run: Run, stage: str) -> Iterator[None]:
    """Add the wall time of the block to the run's time of `stage`."""
    started = monotonic()
    try:
        yield
    finally:
        run.stage_seconds[stage] = run.stage_seconds.get(stage, 0.0) + monotonic() - started
