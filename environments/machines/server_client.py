"""Talks to the server in a machine over a Unix socket."""

import asyncio
import http.client
import io
import json
import os
import socket
import tarfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taskloom.environments.errors import EnvironmentBrokenError, RequestRefusedError

_PART = 65536
_CONNECT_SECONDS = 10
Document = dict[str, Any]
"""A message to or from the server of a machine, as JSON."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server of a machine answered."""

    document: Document
    content: bytes = b""
    """A picture or archive that belongs to it."""


class ServerClient:
    """One connection, kept open; requests one at a time."""

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
        """Ask the server; see the port."""
        return await asyncio.to_thread(self.ask, name, json.dumps(document or {}).encode())

    async def write(self, files: Mapping[str, bytes | None]) -> None:
        """Write files below the home of the machine's user."""
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
            RequestRefusedError: it cannot do that.
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
        length = answer.headers.get("Document-Length")
        if length is None:
            return Reply({}, content)
        return Reply(json.loads(content[: int(length)]), content[int(length) :])

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
            writer.close()
            return
        if b" 200 " not in head.partition(b"\r\n")[0]:
            writer.close()
            return
        await asyncio.gather(_pass_on(reader, outward), _pass_on(inward, writer))


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
