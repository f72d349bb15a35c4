"""Worker processes of Ray, by way of a process that drives them; started here, or in a cluster that runs
already."""

from __future__ import annotations

import asyncio
import os
import pickle
import secrets
import shutil
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process, create_subprocess_exec
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from tempfile import mkdtemp
from typing import TYPE_CHECKING, cast

from taskloom.flows.fan_out.errors import WorkersLostError
from taskloom.flows.fan_out.home import Home, HomeAddress
from taskloom.flows.fan_out.own_workers import last_words
from taskloom.flows.fan_out.ray_driver import NUMBER, main
from taskloom.flows.wiring import Done, Errand

if TYPE_CHECKING:
    from taskloom.flows.settings import Settings

_LEAVING_SECONDS = 30.0
_ANSWERING_SECONDS = 20.0
_REMOVALS = 50
_DRIVER = f"from {main.__module__} import {main.__name__}; {main.__name__}()"

_OWN = {
    "RAY_AUTH_MODE": "token",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # which means: listen on the loopback interface only
    # A machine that is busy with other work is no reason to give up:
    "RAY_agent_register_timeout_ms": "600000",
    "RAY_health_check_failure_threshold": "60",
    "RAY_worker_niceness": "0",
    "RAY_worker_register_timeout_seconds": "600",
}
"""Variables of an instance of Ray that belongs to one run."""


@dataclass(slots=True)
class RayWorkers:
    """Has errands done by workers of Ray."""

    processes: int
    """Worker processes; one that is lost is started again."""
    home: Home
    """Answers the workers."""
    losses: int
    """How many workers in a row an errand may lose."""
    reader: asyncio.StreamReader
    """What the driver says."""
    writer: asyncio.StreamWriter
    """What it is told."""
    address: HomeAddress | None = None
    """Where the run answers."""
    begun: asyncio.Future[bytes] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """Done once a worker has begun; has an error if none does."""
    waiting: dict[int, asyncio.Future[bytes]] = field(default_factory=dict)
    """Errands under way."""
    ended: WorkersLostError | None = None
    """Why there are no workers any more."""
    numbers: count[int] = field(default_factory=lambda: count(1))

    async def do(self, errand: Errand[Done]) -> Done:
        """Have `errand` done, again if its worker is lost.

        Raises:
            WorkersLostError: it lost its worker too often, or Ray has ended.
        """
        if self.ended is not None:
            raise self.ended
        number, content = (
            next(self.numbers),
            pickle.dumps((self.address, self.home.current_edition(), errand)),
        )
        future = self.waiting[number] = asyncio.get_running_loop().create_future()
        try:
            self.writer.write(number.to_bytes(NUMBER) + len(content).to_bytes(NUMBER) + content)
            done = pickle.loads(await future)  # noqa: S301 - from a worker of this run
        finally:
            del self.waiting[number]
        if isinstance(done, Exception):
            raise done
        return cast(Done, done)

    async def listen(self, process: Process) -> None:
        """Take in what the driver says until it ends; then say why to all that wait."""
        words = asyncio.create_task(last_words(process))
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                number = int.from_bytes(await self.reader.readexactly(NUMBER))
                kind = await self.reader.readexactly(1)
                content = await self.reader.readexactly(int.from_bytes(await self.reader.readexactly(NUMBER)))
                future = self.waiting.get(number) if number else self.begun
                if future is None or future.done():
                    continue  # nobody waits for it any more
                if kind in (b"b", b"d"):
                    future.set_result(content)
                else:
                    future.set_exception(WorkersLostError(self._lost(content.decode(errors="replace"))))
        said = await words
        await process.wait()
        self.ended = WorkersLostError(
            f"Ray has ended and said {said!r}; what was finished is kept"
            if said
            else "Ray has ended without a word; what was finished is kept"
        )
        for future in (self.begun, *self.waiting.values()):
            if not future.done():
                future.set_exception(self.ended)

    def _lost(self, why: str) -> str:
        if why:
            return f"Ray could not do an item: {why}"
        return (
            f"an item lost {self.losses} workers of Ray, one after the other; what was finished is kept. If"
            " memory ran out, lower `environments`; Ray's own logs say more"
        )


@asynccontextmanager
async def ray_workers(settings: Settings, home: Home) -> AsyncIterator[RayWorkers]:
    """Workers as the settings say, while the block runs; all that was started for them ends with it.

    Raises:
        WorkersLostError: there is no cluster at the address, or it has no place for a worker.
    """
    chosen = settings.fan_out
    await _require_cluster(chosen.scheduler)
    ours, theirs = socket.socketpair()
    folder = await asyncio.to_thread(mkdtemp, prefix="ray-")
    with theirs:
        process = await create_subprocess_exec(
            *(sys.executable, "-c", _DRIVER, str(theirs.fileno()), folder, chosen.scheduler),
            *(str(chosen.workers), str(settings.environments), str(chosen.losses)),
            env=_variables(own=not chosen.scheduler),
            pass_fds=[theirs.fileno()],
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=PIPE,
            start_new_session=True,
        )
    reader, writer = await asyncio.open_connection(sock=ours)
    workers = RayWorkers(chosen.workers, home, chosen.losses, reader, writer)
    listening = asyncio.create_task(workers.listen(process))
    begun = False
    try:
        try:
            await workers.begun
        except WorkersLostError as error:
            raise _no_worker(chosen.scheduler, str(error)) from None
        begun = True
        async with home.answering(chosen.host) as workers.address:
            yield workers
    finally:
        writer.close()
        with suppress(ProcessLookupError, TimeoutError):
            if not begun:
                process.kill()  # it would notice only once Ray has started
            async with asyncio.timeout(_LEAVING_SECONDS):
                await process.wait()
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        await listening
        for _ in range(_REMOVALS):  # Ray's last processes may still be writing their logs
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            if not await asyncio.to_thread(os.path.exists, folder):
                break
            await asyncio.sleep(0.1)


async def _require_cluster(address: str) -> None:
    """Check that something answers at `address`, because Ray would try for minutes."""
    host, _, port = address.rpartition(":")
    if not port.isdigit():
        return
    try:
        async with asyncio.timeout(_ANSWERING_SECONDS):
            _, writer = await asyncio.open_connection(host.rpartition("/")[2], int(port))
        writer.close()
    except (OSError, TimeoutError) as error:
        raise _no_worker(address, f"{type(error).__name__}: {error}") from None


def _no_worker(address: str, why: str) -> WorkersLostError:
    return WorkersLostError(
        f"no worker of Ray begins at {address or 'this machine'}: {why}; start a cluster to which this"
        " machine belongs (`ray start`), or leave out fan_out.scheduler"
    )


def _variables(*, own: bool) -> dict[str, str]:
    """The environment of the driver; a cluster of this run's own admits nobody else, and Ray tells nobody
    that it is used."""
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    if own:
        variables.pop("RAY_ADDRESS", None)
        variables |= _OWN | {"RAY_AUTH_TOKEN": secrets.token_hex(32)}
    return variables
