"""Begins and ends the fan-out of a run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.util import find_spec

from taskloom.flows.fan_out.errors import RunnerMissingError
from taskloom.flows.fan_out.home import Home
from taskloom.flows.setting_groups.fan_out_settings import FanOutSettings
from taskloom.flows.wiring import Elsewhere, KnownSubtasks, Run

_LIBRARIES = {"dask": "distributed", "ray": "ray"}


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
    async with _workers(run, Home(run, subtasks)) as workers:
        run.elsewhere = workers
        try:
            yield
        finally:
            run.elsewhere = None


def _workers(run: Run, home: Home) -> AbstractAsyncContextManager[Elsewhere]:
    if run.settings.fan_out.runner == "ray":
        from taskloom.flows.fan_out.ray_workers import ray_workers

        return ray_workers(run.settings, home)
    from taskloom.flows.fan_out.dask_workers import dask_workers

    return dask_workers(run.settings, home)


def check_runner(settings: FanOutSettings) -> None:
    """Check that the chosen runner can be used; starts nothing.

    Raises:
        RunnerMissingError: its library is not installed.
    """
    library = _LIBRARIES.get(settings.runner)
    if library is not None and find_spec(library) is None:
        raise RunnerMissingError(
            f"fan_out.runner is {settings.runner}, and {settings.runner.capitalize()} is not installed: pip"
            f" install 'taskloom[{settings.runner}]', or set fan_out.runner=threads"
        )
