"""Begins and ends the fan-out of a run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec

from taskloom.flows.fan_out.errors import RunnerMissingError
from taskloom.flows.fan_out.home import Home
from taskloom.flows.setting_groups import FanOutSettings
from taskloom.flows.wiring import KnownSubtasks, Run


@asynccontextmanager
async def fanned_out(run: Run, subtasks: KnownSubtasks) -> AsyncIterator[None]:
    """While the block runs, items of `run` are done where its settings say; `subtasks` gives those that are
    verified.

    Raises:
        WorkersLostError: no worker can be reached.
    """
    if run.settings.fan_out.runner == "threads":
        yield
        return
    from taskloom.flows.fan_out.dask_workers import dask_workers

    async with dask_workers(run.settings, Home(run, subtasks)) as workers:
        run.elsewhere = workers
        try:
            yield
        finally:
            run.elsewhere = None


def check_runner(settings: FanOutSettings) -> None:
    """Check that the chosen runner can be used; starts nothing.

    Raises:
        RunnerMissingError: its library is not installed.
    """
    if settings.runner == "dask" and find_spec("distributed") is None:
        raise RunnerMissingError(
            "fan_out.runner is dask, and Dask is not installed: pip install 'taskloom[dask]', or set"
            " fan_out.runner=threads"
        )
