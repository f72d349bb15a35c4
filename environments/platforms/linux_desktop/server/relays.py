"""Connections of the host to ports of the machine, passed on byte by byte."""

import selectors
import socket

_PART = 65536


def relay(host: socket.socket, port: int) -> None:
    """Connect `host` with a port of the machine's own loopback until one of both ends.

    Raises:
        OSError: nothing listens there.
    """
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
                    part = source.recv(_PART)
                    if not part:
                        return
                    key.data.sendall(part)
