"""Worker processes of Dask: of a cluster here, whose nannies replace lost ones, or of a running scheduler."""

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
from taskloom.flows.fan_out.home import Home, HomeAddress, portable
from taskloom.flows.settings import FanOutSettings, Settings
from taskloom.flows.wiring import (
    Done,
    Errand,
    KnownSubtasks,
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
"""How long a run waits for a worker where there is none, at its start and later."""
_LOOK_SECONDS = 5.0
_LEAVING_SECONDS = 10.0


@dataclass(slots=True)
class DaskWorkers:
    """Has errands done by the workers of a Dask scheduler."""

    client: Client
    home: Home
    address: HomeAddress
    losses: int
    """How many workers in a row an errand may lose."""

    @property
    def processes(self) -> int:
        """Worker processes that are known at this moment; at least one, for lost ones are started again."""
        return max(1, len(self.client.scheduler_info(n_workers=-1)["workers"]))

    async def do(self, errand: Errand[Done]) -> Done:
        """Have `errand` done, again if its worker is lost.

        Raises:
            CommandError: it lost its worker too often, or no worker has been there for long.
        """
        from distributed import KilledWorker

        future = self.client.submit(do_errand, self.address, self.home.current_edition(), errand, pure=False)
        try:
            done = await self._awaited(future)
        except KilledWorker as error:
            raise CommandError(
                f"{_name(errand)} lost {self.losses} workers, one after the other; what was finished is kept."
                " If memory ran out, lower `environments`; their own logs say more",
                ExitCode.NEGATIVE_ANSWER,
            ) from error
        finally:
            future.release()  # type: ignore[no-untyped-call]
        if isinstance(done, Exception):
            raise done
        return cast(Done, done)

    async def _awaited(self, future: Awaitable[object]) -> object:
        """The result of `future`, as long as there are workers, or new ones start in time."""
        waiting = asyncio.ensure_future(future)
        seen = monotonic()
        try:
            while not waiting.done():
                await asyncio.wait({waiting}, timeout=_LOOK_SECONDS)
                if self.client.scheduler_info(n_workers=-1)["workers"]:
                    seen = monotonic()
                elif monotonic() - seen > _STARTING_SECONDS and not waiting.done():
                    raise CommandError(
                        f"no Dask worker has been there for {_STARTING_SECONDS:g} s, and none starts; what"
                        " was finished is kept. Look at the workers' own logs and the machine's memory",
                        ExitCode.NEGATIVE_ANSWER,
                    )
            return await waiting
        finally:
            waiting.cancel()


@asynccontextmanager
async def dask_workers(settings: Settings, home: Home) -> AsyncIterator[DaskWorkers]:
    """Workers as the settings say, while the block runs; those started here end with it.

    Raises:
        CommandError: there is no scheduler at the address, or no worker joins it.
    """
    import dask
    import distributed

    chosen = settings.fan_out
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("distributed"):  # each has a level of its own; lost workers are expected
            logging.getLogger(name).setLevel(logging.CRITICAL)
    made: Any = distributed
    async with AsyncExitStack() as resources:
        rules = {
            "distributed.scheduler.allowed-failures": chosen.losses,
            "distributed.scheduler.work-stealing": False,
        }
        resources.enter_context(dask.config.set(rules))
        try:
            scheduler: object = chosen.scheduler or await resources.enter_async_context(
                made.LocalCluster(
                    n_workers=chosen.workers,
                    threads_per_worker=settings.first_environments,
                    host="127.0.0.1",
                    dashboard_address=None,
                    worker_dashboard_address=None,
                    memory_limit=0,
                    silence_logs=logging.CRITICAL,
                    asynchronous=True,
                )
            )
            client: Client = await resources.enter_async_context(
                made.Client(scheduler, asynchronous=True, timeout=_STARTING_SECONDS, set_as_default=False)
            )
            joined: Any = client.wait_for_workers
            await joined(1, timeout=_STARTING_SECONDS)
        except (OSError, TimeoutError, RuntimeError) as error:
            raise CommandError(
                f"no Dask worker answers at {chosen.scheduler or 'this machine'}: {error}; start a scheduler"
                " and workers (`dask scheduler`, `dask worker ADDRESS`), or leave out fan_out.scheduler",
                ExitCode.NEGATIVE_ANSWER,
            ) from error
        address = await resources.enter_async_context(home.answering(chosen.host))
        try:
            yield DaskWorkers(client, home, address, chosen.losses)
        finally:
            with suppress(Exception):
                async with asyncio.timeout(_LEAVING_SECONDS):
                    await client.run(leave, address, on_error="ignore")


def _name(errand: object) -> str:
    for item in getattr(errand, "args", ()):
        name = getattr(item, "task_id", "") or getattr(getattr(item, "instance", None), "instance_id", "")
        if name:
            return str(name)
    return "an item"


@dataclass(slots=True)
class RemoteWorkplace:
    """The place of one run in one worker."""

    home: HomeAddress
    place: Workplace | None = None
    edition: int = 0
    """State of the applications that it knows."""
    verified: dict[str, VerifiedSubtask] = field(default_factory=dict)
    resources: AsyncExitStack = field(default_factory=AsyncExitStack)
    users: int = 0
    """Errands under way."""
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by the errand that opens the place, or learns of new applications."""

    async def opened(self, edition: int) -> Workplace:
        """The place, with applications at least as new as `edition`."""
        async with self.opening:
            if self.place is None:
                run_id, settings = await self.home.settings()
                applications = await self.home.applications()
                sandbox = EvaluationSandbox(sandbox_settings(settings))
                self.resources.enter_context(sandbox)
                environments = environment_pool(settings, applications.values())
                self.resources.push_async_callback(environments.close)
                self.place = Workplace(
                    run_id=run_id,
                    settings=settings,
                    applications=applications,
                    models=self.home,
                    player_at_home=lambda agent: replace(self.home, player=agent),
                    environments=environments,
                    sandbox=sandbox,
                )
                self.edition = edition
            if self.edition < edition:
                self.place.applications = await self.home.applications()
                self.edition = edition
        return self.place

    async def subtasks(self, names: Sequence[str]) -> Mapping[str, VerifiedSubtask]:
        """Verified subtasks, asked for once each."""
        missing = [name for name in names if name not in self.verified]
        if missing:
            self.verified.update(await self.home.subtasks(missing))
        return {name: self.verified[name] for name in names}


_places: dict[HomeAddress, RemoteWorkplace] = {}
"""What is open in this process, by run."""


async def do_errand(home: HomeAddress, edition: int, errand: Errand[Done]) -> Done | Exception:
    """Do one errand of the run that answers at `home`; an error is returned, to travel as what it is."""
    remote = _places.setdefault(home, RemoteWorkplace(home))
    remote.users += 1
    try:
        for left in [other.home for other in _places.values() if not other.users]:
            await leave(left)  # its run ended without a word, or will ask again
        return await errand(await remote.opened(edition), remote.subtasks)
    except Exception as error:
        return portable(error)
    finally:
        remote.users -= 1


async def leave(home: HomeAddress) -> None:
    """Close what is open for the run that answered at `home`."""
    remote = _places.pop(home, None)
    if remote is not None:
        await remote.resources.aclose()


@asynccontextmanager
async def fanned_out(run: Run, subtasks: KnownSubtasks) -> AsyncIterator[None]:
    """While the block runs, items of `run` are done where its settings say; `subtasks` gives verified ones.

    Raises:
        CommandError: no worker can be reached.
    """
    if run.settings.fan_out.runner == "threads":
        yield
        return
    async with dask_workers(run.settings, Home(run, subtasks)) as workers:
        run.elsewhere = workers
        try:
            yield
        finally:
            run.elsewhere = None


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
