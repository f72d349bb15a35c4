"""Servers inside bubblewrap, and the relay that leads into their network."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from taskloom.environments.errors import ApplicationStartFailedError, ApplicationUnavailableError
from taskloom.environments.machines.bubblewrap import bubblewrap_works, confined_command
from taskloom.environments.machines.sandbox import Sandbox
from taskloom.environments.platforms.web_browser.servers.application_server import (
    ApplicationServer,
    Confinement,
)
from taskloom.environments.platforms.web_browser.servers.hosting import Hosting
from taskloom.environments.platforms.web_browser.settings import WebBrowserSettings
from taskloom.resources.applications import Application, Preparation
from tests.environments.web_browser.test_servers import application, get
from tests.limits import LONGEST_SECONDS

with_bubblewrap = pytest.mark.skipif(
    not bubblewrap_works(), reason="bubblewrap does not work on this machine"
)
RELAY = files("taskloom.environments.platforms.web_browser.servers").joinpath("relay.py").read_text()
# What a server can do that nobody wants: reach other servers of the machine and other machines, write, read,
# look around.
CURIOUS = """
import http.server, json, os, pathlib, socket, sys
port, other, outside, secret = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
def outcome(work):
    try: return str(work())
    except OSError as error: return type(error).__name__
def tried():
    return {
        'neighbour': outcome(lambda: socket.create_connection(('127.0.0.1', other), 2)),
        'far': outcome(lambda: socket.create_connection(('192.0.2.1', 80), 2)),
        'name': outcome(lambda: socket.getaddrinfo('example.org', 80)),
        'write': outcome(lambda: pathlib.Path(outside, 'written').write_text('x')),
        'secret': outcome(lambda: pathlib.Path(secret).read_text()),
        'etc': outcome(lambda: pathlib.Path('/etc/written-by-a-server').write_text('x')),
        'own': outcome(lambda: pathlib.Path('own.txt').write_text('x')),
        'processes': len([name for name in os.listdir('/proc') if name.isdigit()]),
        'run': os.listdir('/run') if os.path.isdir('/run') else [],
        'capabilities': [l.split()[1] for l in open('/proc/self/status') if l.startswith('CapEff')][0],
    }
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps(tried()).encode()
        self.send_response(200); self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
http.server.HTTPServer(('127.0.0.1', port), Handler).serve_forever()
"""  # noqa: E501
ECHO = """
import socket, sys
server = socket.create_server(('127.0.0.1', int(sys.argv[1])))
while True:
    caller, _ = server.accept()
    whole = b''
    while piece := caller.recv(65536): whole += piece
    caller.sendall(whole[::-1]); caller.close()
"""

# Changes a file, and on request keeps something that the file does not tell.
KEEPING = """
import http.server, mmap, os, pathlib, subprocess, sys, threading, time
started, kept, note = time.time_ns(), [], pathlib.Path('note.txt')
def work():
    while True: pass
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        deed = self.path[1:]
        if deed: note.write_text('changed')
        if deed == 'open': kept.append(note.open())
        if deed == 'map':
            with note.open() as file: kept.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            os.close(max(int(name) for name in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{name}') and os.path.samefile(f'/proc/self/fd/{name}', 'note.txt')))
        if deed == 'start': kept.append(subprocess.Popen(['sleep', '1000'], start_new_session=True))
        if deed == 'work': threading.Thread(target=work, daemon=True).start()
        body = f'{started} {note.read_text()} {os.getcwd()}'.encode()
        self.send_response(200); self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
"""  # noqa: E501


@pytest.fixture
def neighbour() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@with_bubblewrap
async def test_a_confined_server_reaches_nothing_but_its_sandbox(
    tmp_path: Path, neighbour: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, outside = tmp_path / "sandbox" / "state", tmp_path / "outside"
    state.mkdir(parents=True)
    outside.mkdir()
    secret = outside / "key.txt"
    secret.write_text("secret")
    monkeypatch.setenv("HOME", str(outside))
    served = application(sys.executable, "-c", CURIOUS, "{port}", str(neighbour), str(outside), str(secret))
    environment = {"PATH": os.environ["PATH"]}
    log = tmp_path / "log"
    server = await ApplicationServer.start(
        served, {"state": str(state)}, environment, log, Confinement(tmp_path / "sandbox", ())
    )
    try:
        status, _, body = await asyncio.to_thread(get, server.port)
    finally:
        await server.stop()
    tried = json.loads(body)
    assert status == 200
    assert {name: tried[name] for name in ("neighbour", "far", "name")} == {
        "neighbour": "ConnectionRefusedError",
        "far": "OSError",
        "name": "gaierror",
    }
    # The home of the caller is an empty folder in there, and what is written into it is gone with the server.
    assert tried["secret"] == "FileNotFoundError" and list(outside.iterdir()) == [secret]
    assert tried["etc"] in ("OSError", "PermissionError") and not Path("/etc/written-by-a-server").exists()
    assert tried["own"] == "1" and (state / "own.txt").read_text() == "x"
    assert tried["processes"] <= 4 and tried["run"] == [] and int(tried["capabilities"], 16) == 0


@with_bubblewrap
async def test_nothing_of_a_confined_server_is_left_when_it_is_stopped(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    script = (
        "import os, subprocess, sys, http.server;subprocess.Popen(['sleep', '123.456'],"
        " start_new_session=True);http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])),"
        " http.server.BaseHTTPRequestHandler).serve_forever()"
    )
    served = application(sys.executable, "-c", script, "{port}")
    mark = f"CONFINED_TEST={tmp_path}"
    environment = {"PATH": os.environ["PATH"], "CONFINED_TEST": str(tmp_path)}
    server = await ApplicationServer.start(
        served, {"state": str(state)}, environment, tmp_path / "log", Confinement(tmp_path, ())
    )
    assert len(processes_with(mark)) >= 4
    await server.stop()
    async with asyncio.timeout(LONGEST_SECONDS):
        while processes_with(mark):
            await asyncio.sleep(0.02)
    with pytest.raises(OSError):
        await asyncio.to_thread(get, server.port)


@with_bubblewrap
async def test_a_confined_server_that_ends_says_why(tmp_path: Path) -> None:
    served = application("sh", "-c", "echo no such database; exit 3")
    with pytest.raises(
        ApplicationStartFailedError, match="ended with 3 before its port opened: no such database"
    ):
        await ApplicationServer.start(
            served, {"state": str(tmp_path)}, dict(os.environ), tmp_path / "log", Confinement(tmp_path, ())
        )


def test_the_relay_listens_once_the_server_does_and_carries_both_ways() -> None:
    with relay(sys.executable, "-c", "import time; time.sleep(0.3)\n" + ECHO) as (process, port):
        whole = os.urandom(3_000_000)
        answers: list[bytes] = []
        callers = [threading.Thread(target=lambda: answers.append(exchange(port, whole))) for _ in range(4)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        assert answers == [whole[::-1]] * 4
        assert len(os.listdir(f"/proc/{process.pid}/fd")) < 12


def test_the_relay_ends_with_the_exit_code_of_its_server() -> None:
    with relay("sh", "-c", "exit 7") as (process, port):
        assert process.wait(timeout=LONGEST_SECONDS) == 7
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), 1)


def test_homes_are_hidden_except_for_what_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    (home / "taskloom").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    words = confined_command(["true"], tmp_path / "sandbox", [home / "taskloom", home / "absent"])
    pairs = list(itertools.pairwise(words))
    assert ("--tmpfs", str(home)) in pairs
    assert ("--ro-bind", str(home / "taskloom")) in pairs
    assert str(home / "absent") not in words
    assert pairs.index(("--tmpfs", str(home))) < pairs.index(("--ro-bind", str(home / "taskloom")))
    assert words[-5:] == ["--bind", str(tmp_path / "sandbox"), str(tmp_path / "sandbox"), "--", "true"]
    monkeypatch.setenv("HOME", "/")
    assert ("--tmpfs", "/") not in itertools.pairwise(confined_command(["true"], tmp_path, []))


async def test_bubblewrap_that_is_demanded_and_missing_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taskloom.environments.machines.bubblewrap.bubblewrap_works", lambda: False)
    served: Application = application("sleep", "100")
    for isolation, message in (
        ("always", "bubblewrap .* is not installed"),
        ("automatic", "did not open"),
    ):
        settings = WebBrowserSettings.model_validate(
            {"data_folder": tmp_path / "data", "isolation": isolation}
        )
        sandbox = Sandbox(tmp_path)
        try:
            short = served.model_copy(
                update={"launch": served.launch.model_copy(update={"start_timeout_seconds": 0.1})}
            )
            expected = ApplicationUnavailableError if isolation == "always" else ApplicationStartFailedError
            with pytest.raises(expected, match=message):
                await Hosting(settings, sandbox).restart([short])
        finally:
            sandbox.close()


@with_bubblewrap
@pytest.mark.parametrize(
    ("deed", "declared", "stays"),
    [
        ("write", True, True),
        ("write", False, False),
        ("open", True, False),
        ("map", True, False),
        ("start", True, False),
        ("work", True, False),
    ],
)
async def test_files_are_put_back_under_a_server_that_reads_them_anew_and_is_at_rest(
    tmp_path: Path, deed: str, declared: bool, stays: bool
) -> None:
    served = application(sys.executable, "-c", KEEPING, "{port}", reads_files_anew=declared).model_copy(
        update={"preparation": Preparation(files={"note.txt": "clean:{port}"})}
    )
    sandbox = Sandbox(tmp_path)
    hosting = Hosting(WebBrowserSettings(data_folder=tmp_path / "data", temporary_folder=tmp_path), sandbox)
    try:
        await hosting.restart([served])
        port = hosting.ports["served"]
        before = (await asyncio.to_thread(get, port, f"/{deed}"))[2].split()
        (sandbox.home / "Documents" / "left.txt").write_text("left")
        (sandbox.private / "cache" / "left.txt").write_text("left")
        assert before[1] == "changed"
        await hosting.restart([served])
        after = (await asyncio.to_thread(get, hosting.ports["served"]))[2].split()
        assert after[1:] == [f"clean:{hosting.ports['served']}", str(sandbox.state_folder("served"))]
        assert (after[0] == before[0]) is stays
        assert not list(sandbox.root.rglob("left.txt"))
        await hosting.restart([served.model_copy(update={"name": "other"})])
        with pytest.raises(OSError):
            await asyncio.to_thread(get, port)
        assert not sandbox.state_folder("served").exists()
    finally:
        await hosting.close()
        sandbox.close()


@contextlib.contextmanager
def relay(*command: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The relay with both of its networks the same; the command gets the inner port as its last word."""
    with socket.socket() as listener, socket.socket() as reserved:
        listener.bind(("127.0.0.1", 0))
        reserved.bind(("127.0.0.1", 0))
        inner = reserved.getsockname()[1]
        reserved.close()
        number, port = listener.fileno(), listener.getsockname()[1]
        words = [sys.executable, "-I", "-S", "-c", RELAY, str(number), str(inner), *command, str(inner)]
        process = subprocess.Popen(words, pass_fds=(number,), start_new_session=True)
    try:
        yield process, port
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()


def exchange(port: int, whole: bytes) -> bytes:
    """What the echo answers; the port opens when the server is up."""
    for _ in range(30_000):
        try:
            caller = socket.create_connection(("127.0.0.1", port), LONGEST_SECONDS)
            break
        except ConnectionRefusedError:
            threading.Event().wait(0.02)
    else:
        raise AssertionError("the relay never listened")
    with caller:
        caller.sendall(whole)
        caller.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := caller.recv(1 << 16):
            answer += piece
        return answer


def processes_with(mark: str) -> list[int]:
    """Processes in whose environment the mark stands."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
    return found
