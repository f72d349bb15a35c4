"""What the steps of a run work with: opened once by the flow, found again by each step by the run's id, for
steps take and return plain records only, so that Prefect can show and retry them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cached_property
from time import monotonic

from taskloom.flows.errors import CommandError
from taskloom.flows.fan_out.dask_workers import fanned_out
from taskloom.flows.running.cancellation import cancellable
from taskloom.flows.running.core_seconds import since
from taskloom.flows.settings import Settings
from taskloom.flows.stages.growing import PoolGrowth
from taskloom.flows.stages.making import TaskMaking
from taskloom.flows.summaries.artifacts import progress_shown
from taskloom.flows.wiring import Run, open_run


class Work:
    """What the steps of one run share; parts are created on first use."""

    def __init__(self, run: Run) -> None:
        """Work for `run`."""
        self.run = run

    @cached_property
    def growth(self) -> PoolGrowth:
        """Explores and verifies."""
        return PoolGrowth(self.run)

    @cached_property
    def making(self) -> TaskMaking:
        """Composes, validates and replays."""
        return TaskMaking(self.run, self.growth.verified)


_LOG = logging.getLogger(__name__)
_open: dict[str, Work] = {}
"""The runs that are open in this process."""


@asynccontextmanager
async def begin(settings: Settings, flow: str, *, quiet: bool = False) -> AsyncIterator[Work]:
    """Open a run of `flow` for its steps, and keep it open until the block ends.

    Raises:
        CommandError: no wanted application is installed, or one is unknown.
    """
    async with cancellable(), open_run(settings, flow, quiet=quiet) as run:
        work = Work(run)
        _open[run.run_id] = work
        try:
            _LOG.info("run %s of %s begins", run.run_id, flow)
            async with progress_shown(run), fanned_out(run, lambda names: work.making.subtasks(names)):
                yield work
            _LOG.info("run %s completed", run.run_id)
        finally:
            del _open[run.run_id]


def work_of(run_id: str) -> Work:
    """What the steps of a run work with.

    Raises:
        CommandError: no flow has this run open in this process.
    """
    if run_id not in _open:
        raise CommandError(
            f"no run {run_id!r} is open in this process; steps run in that of their flow, and"
            " fan_out.runner=dask spreads their items over processes"
        )
    return _open[run_id]


@contextmanager
def timed(run: Run, stage: str) -> Iterator[None]:
    """Add wall time and processor time of the block to those of `stage` in the run, and log its end."""
    started, spent = monotonic(), run.spent.so_far()
    try:
        yield
    finally:
        seconds = monotonic() - started
        run.stage_seconds[stage] = run.stage_seconds.get(stage, 0.0) + seconds
        costs = since(spent, run.spent.so_far())
        known = run.core_seconds.setdefault(stage, {})
        for purpose, value in costs.items():
            known[purpose] = round(known.get(purpose, 0.0) + value, 1)
        _LOG.info("%s ended after %.1f s, core-seconds %s", stage, seconds, costs)
