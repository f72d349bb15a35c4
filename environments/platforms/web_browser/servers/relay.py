"""Runs an application's server inside its own network and carries connections to it: `python -I -S -c <this
text> LISTENER PORT COMMAND...`, so it imports only the standard library. LISTENER is an inherited socket that
is bound in the *caller's* network, where it stays: connections to it are forwarded to PORT in this network,
once that is open."""

import os
import socket
import subprocess
import sys
import threading
import time

_CHUNK_BYTES = 1 << 17
_POLL_SECONDS = 0.02


def main(listener_number: int, port: int, command: list[str]) -> int:
    """Run `command`, carrying connections once its port is open; return its exit code."""
    listener = socket.socket(fileno=listener_number)
    os.set_inheritable(listener_number, False)
    server = subprocess.Popen(command)
    while server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(_POLL_SECONDS)
        else:
            listener.listen(128)
            threading.Thread(target=_accept, args=(listener, port), daemon=True).start()
            break
    return server.wait()


def _accept(listener: socket.socket, port: int) -> None:
    while True:
        caller, _ = listener.accept()
        try:
            server = socket.create_connection(("127.0.0.1", port), 5)
        except OSError:
            caller.close()
            continue
        server.settimeout(None)
        for one, other in ((caller, server), (server, caller)):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=_carry, args=(one, other), daemon=True).start()


def _carry(source: socket.socket, target: socket.socket) -> None:
    """Pass on what `source` sends until it ends; then shut down the sending side of `target`."""
    try:
        while piece := source.recv(_CHUNK_BYTES):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
