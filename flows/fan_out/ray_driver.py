"""The process between a run and Ray: it starts workers of Ray, hands them errands, and gives back what became
of them.

The run is not itself a driver of Ray. Ray ends its drivers together with the node that they belong to,
without a word, and takes over their signals; a run would then end without storing what it has finished. This
process has a session of its own, so that Ctrl-C in a terminal does not reach Ray, and ends when the
connection to the run does, however the run ends.

It reads none of what it passes on: errands and outcomes are bytes, and only workers import what they work
with.
"""

from __future__ import annotations

import asyncio
import logging
import os
import select
import shutil
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NoReturn

NUMBER = 8
"""Bytes of a number in a message: that of the errand, then the length of what follows the kind."""
_STARTING_SECONDS = 600.0
_LEAVING_SECONDS = 10.0
_LONGEST_END_SECONDS = 20.0
_STARTS = 3
_OBJECT_STORE_BYTES = 200_000_000


class ErrandWorker:
    """A worker process of Ray."""

    async def begin(self) -> None:
        """Import what errands need."""
        from taskloom.flows.fan_out import workplaces

        assert workplaces

    async def do(self, content: bytes) -> bytes:
        """Do the pickled errand; what became of it, pickled."""
        import pickle

        from taskloom.flows.fan_out.workplaces import do_errand

        return pickle.dumps(await do_errand(*pickle.loads(content)))  # noqa: S301 - from the run, through Ray

    async def leave(self) -> None:
        """Close what is open."""
        from taskloom.flows.fan_out.workplaces import leave_all

        await leave_all()


@dataclass(slots=True)
class _Driver:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    workers: list[Any]
    busy: dict[int, int] = field(default_factory=dict)
    """Errands under way, by worker."""

    def say(self, number: int, kind: bytes, content: bytes = b"") -> None:
        self.writer.write(number.to_bytes(NUMBER) + kind + len(content).to_bytes(NUMBER) + content)

    async def drive(self) -> None:
        begun = [asyncio.ensure_future(_result(worker.begin.remote())) for worker in self.workers]
        done, _ = await asyncio.wait(begun, timeout=_STARTING_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            raise TimeoutError(f"Ray has no place for a worker after {_STARTING_SECONDS:.0f} seconds")
        for one in done:
            one.result()
        self.busy = {number: 0 for number, one in enumerate(begun) if one in done}
        for number, one in enumerate(begun):
            one.add_done_callback(partial(self._joined, number))
        self.say(0, b"b")
        under_way: set[asyncio.Task[None]] = set()
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                number = int.from_bytes(await self.reader.readexactly(NUMBER))
                content = await self.reader.readexactly(int.from_bytes(await self.reader.readexactly(NUMBER)))
                task = asyncio.create_task(self._done(number, content))
                under_way.add(task)
                task.add_done_callback(under_way.discard)
        for task in under_way:
            task.cancel()
        leaving = [asyncio.ensure_future(_result(worker.leave.remote())) for worker in self.workers]
        await asyncio.wait(leaving, timeout=_LEAVING_SECONDS)

    def _joined(self, number: int, begun: asyncio.Future[object]) -> None:
        if not begun.cancelled() and begun.exception() is None:
            self.busy.setdefault(number, 0)

    async def _done(self, number: int, content: bytes) -> None:
        from ray.exceptions import RayActorError, RayError

        chosen = min(self.busy, key=self.busy.__getitem__)
        self.busy[chosen] += 1
        try:
            self.say(number, b"d", await _result(self.workers[chosen].do.remote(content)))
        except RayActorError:
            self.say(number, b"l")
        except RayError as error:
            self.say(number, b"e", str(error).encode())
        finally:
            self.busy[chosen] -= 1
        with suppress(ConnectionError):
            await self.writer.drain()


async def _result(reference: Any) -> Any:
    return await reference


async def _connected(connection: socket.socket, workers: list[Any]) -> None:
    reader, writer = await asyncio.open_connection(sock=connection)
    await _Driver(reader, writer, workers).drive()


def main() -> None:
    """Drive Ray for the run at the other end of a socket.

    Arguments: descriptor of the socket, folder for Ray's files, address of a cluster or nothing, workers,
        items side by side, losses.
    """
    descriptor, folder, address, count, slots, losses = sys.argv[1:]
    connection = socket.socket(fileno=int(descriptor))
    connection.set_inheritable(False)
    threading.Thread(target=_end_with_run, args=(connection, folder), daemon=True).start()
    try:
        _drive(connection, folder, address, int(count), int(slots), int(losses))
    except Exception as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.stderr.flush()
    _end(folder)


def _end_with_run(connection: socket.socket, folder: str) -> None:
    """End this process, and Ray with it, soon after the run, whatever it is waiting for."""
    other_side = select.poll()
    other_side.register(connection, select.POLLRDHUP)
    other_side.poll()
    time.sleep(_LONGEST_END_SECONDS)
    _end(folder)


def _end(folder: str) -> NoReturn:
    """End all processes that were started from here; whoever is left of Ray would need minutes to notice."""
    shutil.rmtree(folder, ignore_errors=True)  # the run may have been killed, and does it otherwise
    os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _drive(connection: socket.socket, folder: str, address: str, count: int, slots: int, losses: int) -> None:
    import ray

    try:
        _begin(address, folder, count)
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(name, lambda *_: None)  # the run decides; what is started later begins without
        worker: Any = ray.remote(ErrandWorker)
        chosen = worker.options(
            num_cpus=1,
            max_restarts=-1,
            max_task_retries=losses,
            max_concurrency=slots + 1,
            scheduling_strategy="SPREAD",
        )
        asyncio.run(_connected(connection, [chosen.remote() for _ in range(count)]))
    finally:
        ray.shutdown()


def _begin(address: str, folder: str, count: int) -> None:
    import ray

    quiet: dict[str, Any] = {"logging_level": logging.CRITICAL, "log_to_driver": False}
    if address:
        ray.init(address=address, **quiet)
        return
    for left in reversed(range(_STARTS)):
        try:
            ray.init(
                address="local",
                num_cpus=count,
                include_dashboard=False,
                object_store_memory=_OBJECT_STORE_BYTES,
                _temp_dir=folder,
                _node_ip_address="127.0.0.1",
                **quiet,
            )
            return
        except Exception:  # on a busy machine Ray may not wait long enough for its own processes
            ray.shutdown()
            if not left:
                raise
