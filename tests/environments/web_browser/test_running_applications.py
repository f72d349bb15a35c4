"""Applications that somebody else started: opened where they run, put back by their own command, never
stopped."""

from __future__ import annotations

import http.server
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from taskloom.environments.errors import ApplicationStartFailedError
from taskloom.environments.evidence.file_snapshot import FileSnapshots
from taskloom.environments.machines.sandbox import Sandbox
from taskloom.environments.platforms.web_browser.servers.hosting import Hosting
from taskloom.environments.platforms.web_browser.settings import WebBrowserSettings
from taskloom.resources.applications import Application, Launch
from tests.environments.web_browser.test_servers import get


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"up")

    def log_message(self, format: str, *values: object) -> None:
        """Say nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def running(port: int, **launch: object) -> Application:
    return Application(
        name="tracker",
        title="Tracker",
        category="Office",
        version="running",
        licence="MIT",
        description="x",
        manual="x",
        launch=Launch.model_validate({"address": f"http://localhost:{port}", "url_path": "/list", **launch}),
    )


def hosting(folder: Path, sandbox: Sandbox) -> Hosting:
    return Hosting(WebBrowserSettings(data_folder=folder), sandbox)


async def test_it_is_opened_where_it_runs_put_back_at_every_reset_and_left_running(
    tmp_path: Path, port: int
) -> None:
    kept, log = tmp_path / "kept", tmp_path / "resets"
    kept.mkdir()
    (kept / "records.json").write_text(f'{{"place": "{kept}/a"}}')
    code = f"import pathlib; p = pathlib.Path({str(log)!r}); p.open('a').write('reset ')"
    application = running(port, reset_command=[sys.executable, "-c", code], data_folder=str(kept))
    sandbox = Sandbox(tmp_path)
    host = hosting(tmp_path, sandbox)
    try:
        for _ in range(2):
            await host.restart([application])
        assert host.address(application) == f"http://localhost:{port}/list" and host.ports["tracker"] == port
        assert log.read_text() == "reset reset "
        snapshots = FileSnapshots(sandbox.home)
        snapshots.outside_folders = dict(host.data_folders)
        found = snapshots.take()
        assert [(item.path, item.text) for item in found.files] == [
            (".applications/tracker/records.json", '{"place": "~/.applications/tracker/a"}')
        ]
        assert found.directories.count(".applications/tracker") == 1
        await host.restart([running(port)])
        assert host.data_folders == {}
    finally:
        await host.close()
        sandbox.close()
    assert get(port)[0] == 200


async def test_what_is_not_there_is_said_with_the_field_to_change(tmp_path: Path, port: int) -> None:
    sandbox = Sandbox(tmp_path)
    host = hosting(tmp_path, sandbox)
    failing = [sys.executable, "-c", "raise SystemExit('no such container')"]
    try:
        with pytest.raises(ApplicationStartFailedError, match=r"does not answer at http.*launch\.address"):
            await host.restart([running(9, start_timeout_seconds=0.1)])
        with pytest.raises(ApplicationStartFailedError, match=r"ended with 1: no such container"):
            await host.restart([running(port, reset_command=failing)])
        with pytest.raises(ApplicationStartFailedError, match=r"launch\.data_folder"):
            await host.restart([running(port, data_folder=str(tmp_path / "absent"))])
    finally:
        await host.close()
        sandbox.close()


@pytest.mark.parametrize(
    ("launch", "said"),
    [
        ({"address": "http://example.org:80"}, "must be http://127.0.0.1:PORT"),
        ({"address": "https://127.0.0.1:80"}, "must be http://127.0.0.1:PORT"),
        ({"address": "http://127.0.0.1"}, "must be http://127.0.0.1:PORT"),
        ({"address": "http://127.0.0.1:99999"}, "must be http://127.0.0.1:PORT"),
        ({"address": "http://127.0.0.1:80/list"}, "the page belongs in url_path"),
        ({"address": "http://me:secret@127.0.0.1:80"}, "must be http://127.0.0.1:PORT"),
        ({"address": "http://127.0.0.1:80", "command": ["x"]}, "neither a command nor a folder"),
        ({"reset_command": ["x"], "command": ["y"]}, "only for applications with an address"),
    ],
)
def test_an_entry_says_one_way_and_this_machine(launch: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Launch.model_validate(launch)
