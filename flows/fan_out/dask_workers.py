"""Worker processes of Dask: of a local cluster that replaces lost ones, or of a running scheduler."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.flows.errors import CommandError
from taskloom.flows.fan_out.run_server import RunAddress, RunServer, picklable
from taskloom.flows.settings import FanOutSettings, Settings
from taskloom.flows.wiring import (
    Job,
    KnownSubtasks,
    Result,
    Run,
    Workplace,
    environment_pool,
    sandbox_settings,
)
from taskloom.resources.errors import ExitCode
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask

if TYPE_CHECKING:
    from distributed import Client

_STARTING_SECONDS = 180.0
"""How long a run waits while it has no worker, at its start and later."""
_POLL_SECONDS = 5.0
_CLOSING_SECONDS = 10.0


@dataclass(slots=True)
class DaskWorkers:
    """Runs jobs in the workers of a Dask scheduler."""

    client: Client
    server: RunServer
    address: RunAddress
    losses: int
    """How many workers in a row a job may lose."""

    @property
    def processes(self) -> int:
        """Worker processes known at the moment; at least one, because lost ones are restarted."""
        return max(1, len(self.client.scheduler_info(n_workers=-1)["workers"]))

    async def run_job(self, job: Job[Result]) -> Result:
        """Run `job` in a worker; rerun it if the worker is lost.

        Raises:
            CommandError: the worker was lost too often, or there was no worker for too long.
        """
        from distributed import KilledWorker

        edition = self.server.current_edition()
        future = self.client.submit(run_remote_job, self.address, edition, job, pure=False)
        try:
            result = await self._wait_for(future)
        except KilledWorker as error:
            raise CommandError(
                f"{_item_name(job)} lost {self.losses} workers, one after the other; finished work is kept."
                " If memory ran out, lower `environments`; their own logs say more",
                ExitCode.NEGATIVE_ANSWER,
            ) from error
        finally:
            future.release()  # type: ignore[no-untyped-call]
        if isinstance(result, Exception):
            raise result
        return cast(Result, result)

    async def _wait_for(self, future: Awaitable[object]) -> object:
        """The result of `future`, as long as there are workers or new ones start in time."""
        task = asyncio.ensure_future(future)
        last_seen = monotonic()
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=_POLL_SECONDS)
                if self.client.scheduler_info(n_workers=-1)["workers"]:
                    last_seen = monotonic()
                elif monotonic() - last_seen > _STARTING_SECONDS and not task.done():
                    raise CommandError(
                        f"there has been no Dask worker for {_STARTING_SECONDS:g} s, and none starts;"
                        " finished work is kept. Look at the workers' own logs and the machine's memory",
                        ExitCode.NEGATIVE_ANSWER,
                    )
            return await task
        finally:
            task.cancel()


@asynccontextmanager
async def dask_workers(settings: Settings, server: RunServer) -> AsyncIterator[DaskWorkers]:
    """Workers as the settings specify, while the block runs; those started here end with it.

    Raises:
        CommandError: there is no scheduler at the address, or no worker joins it.
    """
    import dask
    import distributed

    fan_out = settings.fan_out
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("distributed"):  # each has its own level; lost workers are expected
            logging.getLogger(name).setLevel(logging.CRITICAL)
    untyped: Any = distributed
    async with AsyncExitStack() as resources:
        rules = {
            "distributed.scheduler.allowed-failures": fan_out.losses,
            "distributed.scheduler.work-stealing": False,
        }
        resources.enter_context(dask.config.set(rules))
        try:
            scheduler: object = fan_out.scheduler or await resources.enter_async_context(
                untyped.LocalCluster(
                    n_workers=fan_out.workers,
                    threads_per_worker=settings.first_environments,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",
                    worker_dashboard_address=None,
                    memory_limit=0,
                    silence_logs=logging.CRITICAL,
                    asynchronous=True,
                )
            )
            client: Client = await resources.enter_async_context(
                untyped.Client(scheduler, asynchronous=True, timeout=_STARTING_SECONDS, set_as_default=False)
            )
            wait_for_workers: Any = client.wait_for_workers
            await wait_for_workers(1, timeout=_STARTING_SECONDS)
        except (OSError, TimeoutError, RuntimeError) as error:
            raise CommandError(
                f"no Dask worker answers at {fan_out.scheduler or 'this machine'}: {error}; start a scheduler"
                " and workers (`dask scheduler`, `dask worker ADDRESS`), or leave out fan_out.scheduler",
                ExitCode.NEGATIVE_ANSWER,
            ) from error
        address = await resources.enter_async_context(server.serve(fan_out.host))
        try:
            yield DaskWorkers(client, server, address, fan_out.losses)
        finally:
            with suppress(Exception):
                async with asyncio.timeout(_CLOSING_SECONDS):
                    await client.run(close_workplace, address, on_error="ignore")


def _item_name(job: object) -> str:
    for item in getattr(job, "args", ()):
        name = getattr(item, "task_id", "") or getattr(getattr(item, "instance", None), "instance_id", "")
        if name:
            return str(name)
    return "an item"


@dataclass(slots=True)
class RemoteWorkplace:
    """The workplace of one run in one worker."""

    address: RunAddress
    place: Workplace | None = None
    edition: int = 0
    """Version of the applications that it knows."""
    verified: dict[str, VerifiedSubtask] = field(default_factory=dict)
    resources: AsyncExitStack = field(default_factory=AsyncExitStack)
    running_jobs: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by the job that opens the workplace or updates its applications."""

    async def open(self, edition: int) -> Workplace:
        """The workplace, with applications at least as new as `edition`."""
        async with self.lock:
            if self.place is None:
                run_id, settings = await self.address.settings()
                applications = await self.address.applications()
                sandbox = EvaluationSandbox(sandbox_settings(settings))
                self.resources.enter_context(sandbox)
                environments = environment_pool(settings, applications.values())
                self.resources.push_async_callback(environments.close)
                self.place = Workplace(
                    run_id=run_id,
                    settings=settings,
                    applications=applications,
                    models=self.address,
                    remote_player=lambda agent: replace(self.address, player=agent),
                    environments=environments,
                    sandbox=sandbox,
                )
                self.edition = edition
            if self.edition < edition:
                self.place.applications = await self.address.applications()
                self.edition = edition
        return self.place

    async def subtasks(self, names: Sequence[str]) -> Mapping[str, VerifiedSubtask]:
        """Verified subtasks by id; each is requested once."""
        missing = [name for name in names if name not in self.verified]
        if missing:
            self.verified.update(await self.address.subtasks(missing))
        return {name: self.verified[name] for name in names}


_workplaces: dict[RunAddress, RemoteWorkplace] = {}
"""Open workplaces of this process, by run."""


async def run_remote_job(address: RunAddress, edition: int, job: Job[Result]) -> Result | Exception:
    """Run one job of the run that answers at `address`; an error is returned, so that it keeps its type."""
    workplace = _workplaces.setdefault(address, RemoteWorkplace(address))
    workplace.running_jobs += 1
    try:
        for idle in [other.address for other in _workplaces.values() if not other.running_jobs]:
            await close_workplace(idle)  # its run ended without notice, or will reopen it
        return await job(await workplace.open(edition), workplace.subtasks)
    except Exception as error:
        return picklable(error)
    finally:
        workplace.running_jobs -= 1


async def close_workplace(address: RunAddress) -> None:
    """Close the workplace of the run that answered at `address`."""
    workplace = _workplaces.pop(address, None)
    if workplace is not None:
        await workplace.resources.aclose()


@asynccontextmanager
async def fanned_out(run: Run, subtasks: KnownSubtasks) -> AsyncIterator[None]:
    """While the block runs, jobs of `run` run where its settings say; `subtasks` returns verified ones.

    Raises:
        CommandError: no worker can be reached.
    """
    if run.settings.fan_out.runner == "threads":
        yield
        return
    async with dask_workers(run.settings, RunServer(run, subtasks)) as workers:
        run.workers = workers
        try:
            yield
        finally:
            run.workers = None


def check_runner(settings: FanOutSettings) -> None:
    """Check that the chosen runner can be used; starts nothing.

    Raises:
        CommandError: its library is not installed.
    """
    if settings.runner == "dask" and find_spec("distributed") is None:
        raise CommandError(
            "fan_out.runner is dask, and Dask is not installed: pip install 'taskloom[dask]', or set"
            " fan_out.runner=threads",
            ExitCode.MISSING_REQUIREMENT,
        )
