"""Machines, where the applications of an environment run: containers of podman or docker. A machine is a
desktop with a small server in it, started clean, thrown away after use, and reached over the Unix socket of
that server."""

import asyncio
import http.client
import io
import json
import os
import socket
import tarfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from taskloom.environments.errors import (
    EnvironmentBrokenError,
    EnvironmentFailureError,
    MachineUnavailableError,
    RequestRefusedError,
)
from taskloom.environments.machines.engine import Engine, new_name

Document = dict[str, Any]
"""A message to or from the server of a machine, as JSON."""
_START_SECONDS = 60.0
_POLL_SECONDS = 0.03
_CONNECT_SECONDS = 10
_PART = 65536


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server of a machine answered."""

    document: Document
    content: bytes = b""
    """A picture or archive that belongs to it."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What became of a command."""

    code: int
    """Exit code; 124 where it took too long, 127 where there is no such program."""
    output: str
    errors: str


class ServerClient:
    """Talks to the server in a machine over one connection, kept open; requests one at a time."""

    def __init__(self, path: Path, longest_seconds: float = 90.0) -> None:
        """Talk to the server at the Unix socket `path`; no answer may take longer than `longest_seconds`."""
        self._path = path
        self._connection = _UnixConnection(path, longest_seconds)
        self._lock = threading.Lock()
        self._lifeline: socket.socket | None = None
        self._forwarded: dict[int, asyncio.Server] = {}

    def hold(self) -> None:
        """Open the connection whose end, however this process ends, ends the machine."""
        line = _connected(self._path)
        line.sendall(b"GET /machine/lifeline HTTP/1.1\r\nHost: machine\r\n\r\n")
        if not line.recv(_PART).startswith(b"HTTP/1.1 200"):
            line.close()
            raise OSError("the server refused the lifeline")
        self._lifeline = line

    async def request(self, name: str, document: Document | None = None) -> Reply:
        """Ask the server; errors as `ask`."""
        return await asyncio.to_thread(self.ask, name, json.dumps(document or {}).encode())

    async def write(self, files: Mapping[str, bytes | None]) -> None:
        """Write files below the home of the machine's user; None stands for a folder."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for path, content in files.items():
                member = tarfile.TarInfo(path)
                if content is None:
                    member.type = tarfile.DIRTYPE
                member.size = len(content or b"")
                archive.addfile(member, io.BytesIO(content or b""))
        await asyncio.to_thread(self.ask, "write", packed.getvalue())

    async def forward(self, port: int) -> int:
        """A loopback port that leads to `port` of the machine."""
        if port not in self._forwarded:

            async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await self._relay(port, reader, writer)

            self._forwarded[port] = await asyncio.start_server(accept, "127.0.0.1", 0)
        return int(self._forwarded[port].sockets[0].getsockname()[1])

    def ask(self, name: str, body: bytes) -> Reply:
        """Ask the server and wait for the answer.

        Raises:
            EnvironmentBrokenError: it is gone, failed, or took too long.
            RequestRefusedError: it cannot do that; the message says why.
        """
        with self._lock:
            try:
                self._connection.request("POST", f"/machine/{name}", body)
                answer = self._connection.getresponse()
                content = answer.read()
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                raise EnvironmentBrokenError(
                    f"The machine does not answer to {name!r}: {type(error).__name__} {error}".rstrip()
                ) from error
        if answer.status != 200:
            told = json.loads(content or b"{}")
            if answer.status == 409:
                raise RequestRefusedError(str(told.get("refused")))
            raise EnvironmentBrokenError(f"The machine failed at {name!r}: {told.get('fault')}")
        length = int(answer.headers["Document-Length"])
        return Reply(json.loads(content[:length]), content[length:])

    async def close(self) -> None:
        """End all connections."""
        for server in self._forwarded.values():
            server.close()
        self._forwarded.clear()
        self.hang_up()

    def hang_up(self) -> None:
        """End the connections to the server, and with them the machine."""
        if self._lifeline is not None:
            self._lifeline.close()
            self._lifeline = None
        self._connection.close()

    async def _relay(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = _connected(self._path)
            line.setblocking(False)
            inward, outward = await asyncio.open_unix_connection(sock=line)
            outward.write(f"CONNECT machine:{port} HTTP/1.1\r\nHost: machine\r\n\r\n".encode())
            head = await inward.readuntil(b"\r\n\r\n")
        except (OSError, asyncio.IncompleteReadError):
            head = b""
        if b" 200 " in head.partition(b"\r\n")[0]:
            await asyncio.gather(_pass_on(reader, outward), _pass_on(inward, writer))
        else:
            writer.close()


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, seconds: float) -> None:
        super().__init__("machine", timeout=seconds)
        self._path = path

    def connect(self) -> None:
        self.sock = _connected(self._path)
        self.sock.settimeout(self.timeout)


def _connected(path: Path) -> socket.socket:
    """A connection to a Unix socket, however long its path: the kernel takes 107 characters."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(_CONNECT_SECONDS)
    try:
        made.connect(f"/proc/self/fd/{folder}/{path.name}")
    except OSError:
        made.close()
        raise
    finally:
        os.close(folder)
    return made


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while part := await reader.read(_PART):
            writer.write(part)
            await writer.drain()
    writer.close()


@dataclass(eq=False)
class Machine:
    """A container of `image`, not started yet. What goes wrong in it raises EnvironmentBrokenError, which is
    transient."""

    engine: Engine
    image: str
    parent: Path
    """Its socket will be below this folder."""
    screen_size: tuple[int, int]
    memory: str
    _name: str = ""
    _client: ServerClient | None = None

    async def start(self) -> None:
        """Start it clean and wait until its server answers.

        Raises:
            MachineUnavailableError: no machine can be started here; the message says what to do.
            EnvironmentBrokenError: this one did not come up.
        """
        self._name = new_name()
        folder = self.parent / self._name.rpartition("-")[2]
        folder.mkdir(mode=0o755, parents=True)
        try:
            settings = {"SCREEN": "{}x{}".format(*self.screen_size)}
            start = partial(self.engine.start, memory=self.memory, name=self._name)
            await asyncio.to_thread(start, self.image, folder, settings)
            await asyncio.to_thread(self._wait, folder)
        except BaseException as error:
            await asyncio.to_thread(self.engine.kill, self._name)
            if isinstance(error, MachineUnavailableError) and "no space left" in str(error).casefold():
                raise MachineUnavailableError(
                    "No desktop can be started: the disk is full. Free some space (podman system df shows"
                    " what images and containers take) and try again."
                ) from error
            raise

    async def run(self, command: Sequence[str], *, seconds: float = 60) -> Finished:
        """Run a command in it as its user."""
        reply = await self.request("run", {"command": list(command), "seconds": seconds})
        return Finished(**reply.document)

    async def write(self, files: Mapping[str, bytes | None]) -> None:
        """Write files below the home of its user; None stands for a folder."""
        await self._server().write(files)

    async def forward(self, port: int) -> int:
        """A port of this host that leads to a port of its loopback."""
        return await self._server().forward(port)

    async def request(self, name: str, document: Document | None = None) -> Reply:
        """Ask the server in it; a `RequestRefusedError` if that cannot do it."""
        return await self._server().request(name, document)

    async def stop(self) -> None:
        """End everything that runs in it and remove what is left of it. May be called twice."""
        client, self._client = self._client, None
        name, self._name = self._name, ""
        if client is not None:
            await client.close()
        if name:
            await asyncio.to_thread(self.engine.kill, name)

    def _server(self) -> ServerClient:
        if self._client is None:
            raise EnvironmentBrokenError("The machine is not running.")
        return self._client

    def _wait(self, folder: Path) -> None:
        path, log = folder / "server.sock", folder / "server.log"
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if path.exists():
                client = ServerClient(path)
                try:
                    client.hold()
                    client.ask("ready", b"")
                except (OSError, EnvironmentBrokenError):
                    client.hang_up()
                else:
                    self._client = client
                    return
            time.sleep(_POLL_SECONDS)
        said = log.read_text(errors="replace")[-400:].strip() if log.exists() else "nothing"
        raise EnvironmentBrokenError(
            f"The server in the machine did not answer within {_START_SECONDS:.0f} seconds; it said: {said}"
        )


MachineMaker = Callable[[Path], Machine]
"""Makes a machine that is not started yet; what it needs on this host is below the given folder."""


class ReadyMachines:
    """Gives clean machines, each to be used once; the next ones are started ahead, so that a reset need not
    wait for one."""

    def __init__(self, make: MachineMaker, folder: Path, ahead: int) -> None:
        """Keep `ahead` machines that `make` made below `folder` ready, from the first one taken."""
        self._make = make
        self._folder = folder
        self._ahead = ahead
        self._coming: list[asyncio.Task[Machine]] = []

    async def take(self) -> Machine:
        """A started machine: one that stands ready, else a new one; errors as `Machine.start`."""
        machine = await self._waiting() or await self._started()
        while len(self._coming) < self._ahead:
            task = asyncio.create_task(self._started())
            task.add_done_callback(lambda done: done.cancelled() or done.exception())  # asked for when taken
            self._coming.append(task)
        return machine

    async def close(self) -> None:
        """Stop those that nobody took."""
        coming, self._coming = self._coming, []
        for task in coming:
            with suppress(EnvironmentFailureError):
                await (await task).stop()

    async def _waiting(self) -> Machine | None:
        while self._coming:
            with suppress(EnvironmentFailureError):
                machine = await self._coming.pop(0)
                try:
                    await machine.request("ready")
                except EnvironmentFailureError:
                    await machine.stop()
                    raise
                return machine
        return None

    async def _started(self) -> Machine:
        machine = self._make(self._folder)
        await machine.start()
        return machine
