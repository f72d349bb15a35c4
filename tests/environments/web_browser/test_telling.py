from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from pydantic import ValidationError

from taskloom.environments.platforms.web_browser.servers import application_server as telling
from taskloom.environments.platforms.web_browser.servers.application_server import request_state
from taskloom.resources.applications import ToldState


class Answers(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        content = {"/state": b"up", "/bytes": b"\xff\xfe\xfd", "/long": b"x" * 200}.get(self.path)
        self._say(b"" if content is None else content, 404 if content is None else 200)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._say(self.headers["Content-Type"].encode() + b" " + body, 200)

    def _say(self, content: bytes, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def test_an_address_is_read_or_asked(port: int) -> None:
    assert request_state(ToldState(name="a.txt", address="/state"), port) == "up"
    asked = ToldState(name="a.json", address="/ask", body="all", body_type="text/plain")
    assert request_state(asked, port) == "text/plain all"


def test_what_is_no_answer_in_text_and_in_bounds_is_none(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "_MOST_BYTES", 100)
    for address in ("/missing", "/bytes", "/long"):
        assert request_state(ToldState(name="a.txt", address=address), port) is None
    assert request_state(ToldState(name="a.txt", address="/state"), 1) is None


def test_something_must_tell_a_state() -> None:
    with pytest.raises(ValidationError, match="an address, a script, or both"):
        ToldState(name="a.txt")
