"""HTTP over a Unix socket: taskloom's own protocol under `/machine/`, and OSWorld's. Server and machine end
when the connection kept open by the host (`/machine/lifeline`) closes, however the host ended."""

import io
import json
import os
import selectors
import socket
import socketserver
import subprocess
import tarfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

from taskloom.environments.platforms.linux_desktop.server import evidence, foreign, programs
from taskloom.environments.platforms.linux_desktop.server.desktop import Desktop, Document

SOCKET = Path("/run/machine/server.sock")
"""Socket of the server, in a folder of the host."""
FOREIGN_PORT = 5000
"""Loopback port of the machine for clients of OSWorld's protocol."""
_FIRST_LIFELINE_SECONDS = 120.0
"""How long a machine waits for a host."""


class Handler(BaseHTTPRequestHandler):
    """Answers requests: several connections at once, operations on the desktop one at a time."""

    protocol_version = "HTTP/1.1"
    desktop: ClassVar[Desktop]
    lifelines: ClassVar[list[float]] = []
    end: ClassVar[Callable[[int], object]] = staticmethod(os._exit)
    """Ends the machine."""

    def log_message(self, format: str, *arguments: Any) -> None:
        """Log nothing."""

    def address_string(self) -> str:
        """A name for every client, because clients of a Unix socket have no address."""
        return "host"

    def do_CONNECT(self) -> None:
        """Pass the connection on to a port of the machine."""
        self.close_connection = True
        with suppress(OSError, ValueError):
            _relay(self.connection, int(self.path.rpartition(":")[2]))

    def do_GET(self) -> None:
        """Answer a request without a body."""
        self._answer(b"")

    def do_POST(self) -> None:
        """Answer a request with a body."""
        self._answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    do_PUT = do_POST

    def _answer(self, body: bytes) -> None:
        path = self.path.partition("?")[0]
        try:
            if path == "/machine/lifeline":
                self._lifeline()
            elif path.startswith("/machine/"):
                self._answer_host(path.removeprefix("/machine/"), body)
            else:
                self._send(*foreign.answer(self.desktop, path, body, self.headers.get("Content-Type", "")))
        except RuntimeError as error:  # the request cannot be carried out; the message says why
            self._send(*foreign.json_answer({"refused": str(error)}, 409))
        except (OSError, KeyError, TypeError, ValueError, subprocess.SubprocessError) as error:
            self._send(*foreign.json_answer({"fault": f"{type(error).__name__}: {error}"}, 500))

    def _answer_host(self, name: str, body: bytes) -> None:
        if name == "write":
            _unpack(body)
            return self._send_document({})
        request: Document = json.loads(body) if body else {}
        if name == "ready":
            return self._send_document({"size": self.desktop.screen.size})
        if name == "run":
            code, output, errors = programs.run(request["command"], seconds=request.get("seconds", 60))
            return self._send_document({"code": code, "output": output, "errors": errors})
        with self.desktop.lock:
            if name == "evidence":
                packed, listed = self.desktop.evidence.changed(
                    request.get("applications", {}), send_all=bool(request.get("anew"))
                )
                return self._send_document({**listed, "clipboard": evidence.clipboard()}, packed)
            if name not in ("observe", "act", "start", "bars", "make", "pointer"):
                raise RuntimeError(f"there is no request {name!r}")
            document, picture = getattr(self.desktop, name)(request)
        return self._send_document(document, picture)

    def _send_document(self, document: Document, content: bytes = b"") -> None:
        """Send a document followed by bytes; the header `Document-Length` says where the document ends."""
        written = json.dumps(document).encode()
        self._send(200, "application/octet-stream", written + content, len(written))

    def _send(self, status: int, kind: str, content: bytes, document_length: int | None = None) -> None:
        self.send_response(status)
        if document_length is not None:
            self.send_header("Document-Length", str(document_length))
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _lifeline(self) -> None:
        self.close_connection = True
        self.lifelines.append(time.monotonic())
        self.connection.sendall(b"HTTP/1.1 200 Alive\r\n\r\n")
        with suppress(OSError):
            while self.connection.recv(1024):
                pass
        type(self).end(0)


class UnixServer(socketserver.ThreadingUnixStreamServer):
    """Listens on the Unix socket."""

    daemon_threads = True
    request_queue_size = 64

    def server_bind(self) -> None:
        """Listen on a new socket, open to every host user who may enter the folder."""
        path = Path(str(self.server_address))
        path.unlink(missing_ok=True)
        super().server_bind()
        path.chmod(0o666)


class ForeignServer(socketserver.ThreadingTCPServer):
    """Listens on the machine's loopback, for clients of OSWorld's protocol."""

    daemon_threads = True
    allow_reuse_address = True


def serve() -> None:
    """Answer requests until the host is gone."""
    Handler.desktop = Desktop()
    for server in (UnixServer(str(SOCKET), Handler), ForeignServer(("127.0.0.1", FOREIGN_PORT), Handler)):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    time.sleep(_FIRST_LIFELINE_SECONDS)
    if not Handler.lifelines:
        os._exit(1)
    threading.Event().wait()


def _unpack(body: bytes) -> None:
    """Write the files of an archive below the home, replacing what is there."""
    with tarfile.open(fileobj=io.BytesIO(body)) as archive:
        for member in archive.getmembers():
            place = programs.HOME / member.name
            if not place.resolve().is_relative_to(programs.HOME):
                raise RuntimeError(f"{member.name!r} lies outside the home")
            if member.isdir():
                place.mkdir(parents=True, exist_ok=True)
                continue
            content = archive.extractfile(member)
            if content is not None:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content.read())


def _relay(host: socket.socket, port: int) -> None:
    """Connect `host` with a loopback port of the machine until one of them closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as machine:
        host.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
        machine.settimeout(None)
        with selectors.DefaultSelector() as ready:
            ready.register(host, selectors.EVENT_READ, machine)
            ready.register(machine, selectors.EVENT_READ, host)
            while True:
                for key, _ in ready.select():
                    source = key.fileobj
                    assert isinstance(source, socket.socket)
                    part = source.recv(65536)
                    if not part:
                        return
                    key.data.sendall(part)


if __name__ == "__main__":
    serve()
