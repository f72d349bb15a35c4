"""What is stored in a bucket stays there when the bucket fails for a moment."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from taskloom.warehouse.errors import WarehouseUnavailableError
from taskloom.warehouse.storage.object_storage import Screenshots


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The methods of the requests to an object storage that refuses the first one alone."""
    methods: list[str] = []

    class RefusingOnce(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            methods.append(self.command)
            self.send_response(200 if len(methods) > 1 else 403)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_HEAD = do_GET = do_PUT = do_POST = do_DELETE = _answer

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), RefusingOnce) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for name, value in (
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}"),
        ):
            monkeypatch.setenv(name, value)
        yield methods
        server.shutdown()


def test_a_picture_that_cannot_be_looked_for_is_not_deleted(asked: list[str]) -> None:
    png = b"\x89PNG\r\n\x1a\n"
    with pytest.raises(WarehouseUnavailableError, match="cannot be stored"):
        Screenshots("s3://bucket/path/").write_all({hashlib.sha256(png).hexdigest(): png})
    assert asked
    assert "DELETE" not in asked
