"""Worker processes of Dask on this machine, started again whenever one ends, and gone when the run ends."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from taskloom.flows.fan_out.errors import WorkersLostError

_MOST_FAILED_STARTS = 3
_STOP_SECONDS = 10.0
_LAST_WORDS = 600


@asynccontextmanager
async def own_workers(count: int, slots: int, failed: asyncio.Future[None]) -> AsyncIterator[str]:
    """A scheduler in this process with `count` workers of `slots` items each; its address.

    It listens on loopback ports that are free, without a dashboard. A worker that is killed is replaced at
    once. If one ends by itself several times in a row, `failed` gets the error that says why.
    """
    import distributed

    made: Any = distributed.Scheduler
    async with made(host="127.0.0.1", port=0, dashboard=False, dashboard_address="127.0.0.1:0") as scheduler:
        address = str(scheduler.address)
        supervised = [asyncio.create_task(_supervise(address, slots, failed)) for _ in range(count)]
        try:
            yield address
        finally:
            for task in supervised:
                task.cancel()
            await asyncio.gather(*supervised, return_exceptions=True)


async def _supervise(address: str, slots: int, failed: asyncio.Future[None]) -> None:
    failed_starts = 0
    while True:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "distributed.cli.dask_worker", address, "--no-nanny", "--no-dashboard"),
            *("--dashboard-address", "127.0.0.1:0", "--host", "127.0.0.1", "--nthreads", str(slots)),
            *("--memory-limit", "0", "--death-timeout", "60"),
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            said = await last_words(process)
            code = await process.wait()
        finally:
            await _ended(process)
        failed_starts = failed_starts + 1 if code > 0 else 0
        if failed_starts == _MOST_FAILED_STARTS and not failed.done():
            failed.set_exception(
                WorkersLostError(f"Dask's workers do not start here (exit code {code}): {said}")
            )


async def last_words(process: asyncio.subprocess.Process) -> str:
    """The end of what the process said, once it has ended."""
    assert process.stderr is not None
    said = b""
    while part := await process.stderr.read(1 << 16):
        said = (said + part)[-_LAST_WORDS:]
    return said.decode(errors="replace").strip()


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Ask the process to end, and kill it if it does not."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        process.terminate()
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
