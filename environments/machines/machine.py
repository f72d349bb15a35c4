"""Machines in which the applications of an environment run: podman or docker containers. A machine is a
desktop with a small server, started clean, discarded after use, and reached over the server's Unix socket."""

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
_CHUNK_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server of a machine answered."""

    document: Document
    content: bytes = b""
    """The picture or archive of the reply."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of a command."""

    code: int
    """Exit code; 124 if it took too long, 127 if there is no such program."""
    output: str
    errors: str


class ServerClient:
    """Talks to the server in a machine over one open connection, with one request at a time."""

    def __init__(self, path: Path, longest_seconds: float = 90.0) -> None:
        """Talk to the server at the Unix socket `path`; an answer may take at most `longest_seconds`."""
        self._path = path
        self._connection = _UnixConnection(path, longest_seconds)
        self._lock = threading.Lock()
        self._lifeline: socket.socket | None = None
        self._forwarded: dict[int, asyncio.Server] = {}

    def open_lifeline(self) -> None:
        """Open the lifeline: the machine ends when it closes, however this process ends."""
        line = _connect(self._path)
        line.sendall(b"GET /machine/lifeline HTTP/1.1\r\nHost: machine\r\n\r\n")
        if not line.recv(_CHUNK_BYTES).startswith(b"HTTP/1.1 200"):
            line.close()
            raise OSError("the server refused the lifeline")
        self._lifeline = line

    async def request(self, name: str, document: Document | None = None) -> Reply:
        """Ask the server without blocking; raises what `ask` raises."""
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
        """Open a loopback port of this host that leads to `port` of the machine."""
        if port not in self._forwarded:

            async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await self._relay(port, reader, writer)

            self._forwarded[port] = await asyncio.start_server(accept, "127.0.0.1", 0)
        return int(self._forwarded[port].sockets[0].getsockname()[1])

    def ask(self, name: str, body: bytes) -> Reply:
        """Ask the server and wait for the answer.

        Raises:
            EnvironmentBrokenError: the server is gone, failed, or took too long.
            RequestRefusedError: the server cannot carry out the request; the message says why.
        """
        with self._lock:
            try:
                self._connection.request("POST", f"/machine/{name}", body)
                answer = self._connection.getresponse()
                content = answer.read()
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                raise EnvironmentBrokenError(
                    f"The machine did not answer {name!r}: {type(error).__name__} {error}".rstrip()
                ) from error
        if answer.status != 200:
            document = json.loads(content or b"{}")
            if answer.status == 409:
                raise RequestRefusedError(str(document.get("refused")))
            raise EnvironmentBrokenError(f"The machine failed at {name!r}: {document.get('fault')}")
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
            line = _connect(self._path)
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
        self.sock = _connect(self._path)
        self.sock.settimeout(self.timeout)


def _connect(path: Path) -> socket.socket:
    """Connect to a Unix socket with a path of any length; the kernel takes only 107 characters."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(_CONNECT_SECONDS)
    try:
        connection.connect(f"/proc/self/fd/{folder}/{path.name}")
    except OSError:
        connection.close()
        raise
    finally:
        os.close(folder)
    return connection


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while part := await reader.read(_CHUNK_BYTES):
            writer.write(part)
            await writer.drain()
    writer.close()


@dataclass(eq=False)
class Machine:
    """A container of `image`, not started yet. Failures in it raise EnvironmentBrokenError, which is
    transient."""

    engine: Engine
    image: str
    parent: Path
    """Folder below which its socket will be."""
    screen_size: tuple[int, int]
    memory: str
    _name: str = ""
    _client: ServerClient | None = None

    async def start(self) -> None:
        """Start the machine clean and wait until its server answers.

        Raises:
            MachineUnavailableError: no machine can be started here; the message says what to do.
            EnvironmentBrokenError: this machine did not start in time.
        """
        self._name = new_name()
        folder = self.parent / self._name.rpartition("-")[2]
        folder.mkdir(mode=0o755, parents=True)
        try:
            settings = {"SCREEN": "{}x{}".format(*self.screen_size)}
            start = partial(self.engine.start, memory=self.memory, name=self._name)
            await asyncio.to_thread(start, self.image, folder, settings)
            await asyncio.to_thread(self._wait_until_ready, folder)
        except BaseException as error:
            await asyncio.to_thread(self.engine.kill, self._name)
            if isinstance(error, MachineUnavailableError) and "no space left" in str(error).casefold():
                raise MachineUnavailableError(
                    "No desktop can be started: the disk is full. Free some space (podman system df shows"
                    " what images and containers take) and try again."
                ) from error
            raise

    async def run(self, command: Sequence[str], *, seconds: float = 60) -> Finished:
        """Run a command as the machine's user."""
        reply = await self.request("run", {"command": list(command), "seconds": seconds})
        return Finished(**reply.document)

    async def write(self, files: Mapping[str, bytes | None]) -> None:
        """Write files below the home of the machine's user; None stands for a folder."""
        await self._server().write(files)

    async def forward(self, port: int) -> int:
        """Open a port of this host that leads to a loopback port of the machine."""
        return await self._server().forward(port)

    async def request(self, name: str, document: Document | None = None) -> Reply:
        """Ask its server; raises `RequestRefusedError` if the server cannot carry out the request."""
        return await self._server().request(name, document)

    async def stop(self) -> None:
        """End and remove the machine. May be called twice."""
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

    def _wait_until_ready(self, folder: Path) -> None:
        path, log = folder / "server.sock", folder / "server.log"
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if path.exists():
                client = ServerClient(path)
                try:
                    client.open_lifeline()
                    client.ask("ready", b"")
                except (OSError, EnvironmentBrokenError):
                    client.hang_up()
                else:
                    self._client = client
                    return
            time.sleep(_POLL_SECONDS)
        output = log.read_text(errors="replace")[-400:].strip() if log.exists() else "nothing"
        raise EnvironmentBrokenError(
            f"The server in the machine did not answer within {_START_SECONDS:.0f} s; it printed: {output}"
        )


MachineMaker = Callable[[Path], Machine]
"""Makes a machine that is not started yet; its files on this host are below the given folder."""


class ReadyMachines:
    """Provides clean machines, each used once; the next ones are started in advance, so no reset waits."""

    def __init__(self, make: MachineMaker, folder: Path, ahead: int) -> None:
        """Once the first machine is taken, keep `ahead` others ready, made by `make` below `folder`."""
        self._make = make
        self._folder = folder
        self._ahead = ahead
        self._starting: list[asyncio.Task[Machine]] = []

    async def take(self) -> Machine:
        """A started machine, ready or new; raises what `Machine.start` raises."""
        machine = await self._take_ready() or await self._start_new()
        while len(self._starting) < self._ahead:
            task = asyncio.create_task(self._start_new())
            task.add_done_callback(lambda done: done.cancelled() or done.exception())  # raised when taken
            self._starting.append(task)
        return machine

    async def close(self) -> None:
        """Stop the machines that were not taken."""
        coming, self._starting = self._starting, []
        for task in coming:
            with suppress(EnvironmentFailureError):
                await (await task).stop()

    async def _take_ready(self) -> Machine | None:
        while self._starting:
            with suppress(EnvironmentFailureError):
                machine = await self._starting.pop(0)
                try:
                    await machine.request("ready")
                except EnvironmentFailureError:
                    await machine.stop()
                    raise
                return machine
        return None

    async def _start_new(self) -> Machine:
        machine = self._make(self._folder)
        await machine.start()
        return machine
