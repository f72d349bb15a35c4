"""A small HTTP/1.1 server on asyncio that can also break off in the middle, as ready-made servers cannot."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Literal

_MOST_HEADER_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request."""

    method: str
    """`GET` or `POST`."""
    path: str
    """Path without the query."""
    headers: Mapping[str, str]
    """Headers, names in lower case."""
    body: bytes
    """Body."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response, and how its sending ends."""

    body: bytes
    """Body."""
    status: int = 200
    """Status."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers."""
    ending: Literal["whole", "cut_off", "reset"] = "whole"
    """Whether all of it is sent, half of it, or nothing but a reset."""


Handler = Callable[[HttpRequest], Awaitable[HttpResponse]]
"""Answers a request."""


class HttpServer:
    """Listens on a free loopback port."""

    def __init__(self, handler: Handler) -> None:
        """Answer by `handler`."""
        self._handler = handler
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self.port = 0

    async def start(self, port: int = 0) -> None:
        """Begin to listen; on any free port when `port` is zero."""
        self._server = await asyncio.start_server(
            self._accept, "127.0.0.1", port, limit=_MOST_HEADER_BYTES, backlog=512
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Close the port and every connection."""
        if self._server is not None:
            self._server.close()
            for connection in list(self._connections):
                connection.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)
            self._server = None

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)
        try:
            while await self._serve_one(reader, writer):
                pass
        except (
            ConnectionError,
            asyncio.IncompleteReadError,
            asyncio.LimitOverrunError,
            asyncio.CancelledError,
        ):
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = {}
        for line in lines:
            name, separator, value = line.partition(":")
            if separator:
                headers[name.strip().lower()] = value.strip()
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        response = await self._handler(HttpRequest(method, target.partition("?")[0], headers, body))
        if response.ending == "reset":
            connection = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
        whole = response.ending == "whole"
        writer.write(_head(response) + (response.body if whole else response.body[: len(response.body) // 2]))
        await writer.drain()
        return whole and headers.get("connection", "").lower() != "close"


def _head(response: HttpResponse) -> bytes:
    try:
        phrase = HTTPStatus(response.status).phrase
    except ValueError:
        phrase = "Overloaded"
    lines = [f"HTTP/1.1 {response.status} {phrase}", f"content-length: {len(response.body)}"]
    named = {"content-type": "application/json", **response.headers}
    lines.extend(f"{name}: {value}" for name, value in named.items())
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
