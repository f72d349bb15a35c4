from __future__ import annotations

import asyncio
import http.client
import os
import socket
import struct
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from taskloom.environments.errors import ApplicationStartFailedError
from taskloom.environments.platforms.web_browser.servers.application_server import ApplicationServer
from taskloom.environments.platforms.web_browser.servers.hosting import StaticServer
from taskloom.resources.applications import Application, Launch
from tests.limits import LONGEST_SECONDS

SERVER = """
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = (os.getcwd() + ' ' + os.environ.get('EXTRA', '')).encode()
        self.send_response(200); self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
if os.fork() == 0:
    http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
os.wait()
"""  # noqa: E501


def application(*command: str, **launch: object) -> Application:
    return Application(
        name="served",
        title="Served",
        category="Office",
        version="1",
        licence="MIT",
        description="x",
        manual="x",
        launch=Launch.model_validate({"command": command, **launch}),
    )


def get(port: int, path: str = "/") -> tuple[int, str, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST_SECONDS)
    with closing(connection):
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.getheader("Content-Type", ""), answer.read().decode()


async def start(folder: Path, served: Application) -> ApplicationServer:
    return await ApplicationServer.start(
        served, {"state": str(folder)}, dict(os.environ), folder.parent / "log"
    )


async def test_starts_on_a_free_port_in_the_state_folder_and_stops_with_its_children(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / "settings.ini").write_text("port={port}")
    served = application(sys.executable, "-c", SERVER, "{port}", environment={"EXTRA": "on {port}"})
    server = await start(state, served)
    status, _, body = await asyncio.to_thread(get, server.port)
    assert status == 200 and body == f"{state} on {server.port}"
    assert (state / "settings.ini").read_text() == f"port={server.port}"
    await server.stop()
    assert not server.is_running
    with pytest.raises(OSError):
        await asyncio.to_thread(get, server.port)


async def test_two_servers_run_side_by_side(tmp_path: Path) -> None:
    served = application(sys.executable, "-c", SERVER, "{port}")
    servers = await asyncio.gather(start(tmp_path, served), start(tmp_path, served))
    assert servers[0].port != servers[1].port
    for server in servers:
        assert (await asyncio.to_thread(get, server.port))[0] == 200
    await asyncio.gather(*(server.stop() for server in servers))


async def test_a_start_that_is_given_up_leaves_no_process(tmp_path: Path) -> None:
    patience = 0.3
    written = tmp_path / "pid"
    while not (written.exists() and written.read_text()):
        served = application("sh", "-c", "echo $$ > pid; exec sleep 1000", start_timeout_seconds=patience)
        with pytest.raises(ApplicationStartFailedError, match="did not open its port"):
            await start(tmp_path, served)
        patience *= 4
    process = int(written.read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


async def test_a_server_that_listens_elsewhere_is_told_apart_by_what_it_printed(tmp_path: Path) -> None:
    patience = 0.3
    while not (tmp_path / "said").exists():
        command = "echo Running on http://127.0.0.1:5000; touch said; exec sleep 1000"
        served = application("sh", "-c", command, start_timeout_seconds=patience)
        with pytest.raises(ApplicationStartFailedError) as failure:
            await start(tmp_path, served)
        patience *= 4
    assert "its output names 5000: does the command take {port}" in str(failure.value)


def test_the_file_server_serves_one_folder_and_nothing_above(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (site / "index.html").write_text("<p>Home")
    (site / "code.mjs").write_text("export {}")
    server = StaticServer(site)
    try:
        assert get(server.port) == (200, "text/html", "<p>Home")
        assert get(server.port, "/code.mjs")[1] == "text/javascript"
        assert get(server.port, "/../secret.txt")[0] == 404
        assert get(server.port, "/%2e%2e/secret.txt")[0] == 404
        assert get(server.port, "/none")[0] == 404
    finally:
        server.close()
    with pytest.raises(OSError):
        get(server.port)


def test_a_caller_that_breaks_off_prints_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    others = set(threading.enumerate())
    server = StaticServer(tmp_path)
    try:
        for _ in range(3):
            caller = socket.create_connection(("127.0.0.1", server.port))
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            caller.close()  # with this option, closing resets the connection
        assert get(server.port)[0] == 200
    finally:
        server.close()
    for thread in set(threading.enumerate()) - others:
        thread.join(timeout=LONGEST_SECONDS)
    assert capfd.readouterr().err == ""
