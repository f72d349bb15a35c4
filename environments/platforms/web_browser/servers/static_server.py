"""A file server on the loopback interface for applications that are only files."""

from __future__ import annotations

import functools
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class _Handler(SimpleHTTPRequestHandler):
    """Serves files, keeps connections open and prints nothing."""

    protocol_version = "HTTP/1.1"
    extensions_map = {  # noqa: RUF012 - the type of the inherited attribute
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
        ".svg": "image/svg+xml",
        ".json": "application/json",
        ".webmanifest": "application/manifest+json",
        ".wav": "audio/wav",
    }

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


class _Server(ThreadingHTTPServer):
    """A browser that goes away in the middle of a connection is no error worth printing."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report what is not a broken connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class StaticServer:
    """Serves one folder from a thread of this process until it is closed; never outlives the process."""

    def __init__(self, folder: Path) -> None:
        """Start serving `folder` on a free port."""
        self.folder = folder
        handler = functools.partial(_Handler, directory=str(folder))
        self._server = _Server(("127.0.0.1", 0), handler)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.05},
            name="static server",
            daemon=True,
        )
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
