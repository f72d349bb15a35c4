"""Serves the viewer on the loopback address until it is interrupted."""

from __future__ import annotations

import socket

import uvicorn

from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.application import create_application
from taskloom.warehouse.viewer.pages.model_call_pages import ReadCall
from taskloom.warehouse.viewer.reviewing.desk import ReviewDesk

LOOPBACK = "127.0.0.1"
"""The only address the viewer listens on."""


def listen(port: int) -> socket.socket:
    """A socket on the loopback address; port 0 takes a free one.

    Raises:
        OSError: the port is taken or not allowed.
    """
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((LOOPBACK, port))
        opened.listen()
    except OSError:
        opened.close()
        raise
    return opened


def serve(
    store: Warehouse, opened: socket.socket, *, review: bool = False, read_call: ReadCall | None = None
) -> None:
    """Answer requests at `opened` until Ctrl-C or SIGTERM.

    With `review`, people may add their reviews; `read_call` finds what was said in a model call.

    Raises:
        KeyboardInterrupt: it was interrupted; open requests were answered first.
    """
    settings = uvicorn.Config(
        create_application(store, ReviewDesk(store.address) if review else None, read_call),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=3,
    )
    uvicorn.Server(settings).run(sockets=[opened])
