"""What the small applications have in common: a server of forms on the standard library alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

Form = Mapping[str, str]
"""The fields of a submitted form, or of a query."""
Page = Callable[[str, Form], str | None]
"""The HTML of a path; None when there is no such page."""
Action = Callable[[str, Form], str | None]
"""Carries out a submitted form and names the page to show next; None when there is no such action."""


def serve(port: int, page: Page, action: Action) -> None:
    """Serve until the process ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            html = page(address.path, dict(parse_qsl(address.query)))
            self._send(200 if html is not None else 404, html if html is not None else "not found")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
            target = action(urlsplit(self.path).path, dict(parse_qsl(body)))
            if target is None:
                return self._send(404, "not found")
            self.send_response(303)
            self.send_header("location", target)
            self.send_header("content-length", "0")
            return self.end_headers()

        def _send(self, status: int, html: str) -> None:
            content = html.encode()
            self.send_response(status)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *values: object) -> None:
            """Say nothing."""

    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


def document(title: str, links: Mapping[str, str], body: str) -> str:
    """A page with a bar of links."""
    bar = " ".join(f'<a href="{address}">{escape(name)}</a>' for name, address in links.items())
    return (
        f"<!doctype html><html><head><title>{escape(title)}</title><style>body{{font:15px"
        " sans-serif;margin:24px} a,button,input{margin:4px;padding:6px} td{padding:4px"
        f" 12px}}</style></head><body><nav>{bar}</nav><h1>{escape(title)}</h1>{body}</body></html>"
    )


def form(address: str, fields: Mapping[str, str], button: str, values: Form | None = None) -> str:
    """A form: names of fields with their labels, and one button."""
    given = values or {}
    inputs = "".join(
        f'<p><label>{escape(label)} <input name="{name}" value="{escape(given.get(name, ""))}"></label></p>'
        for name, label in fields.items()
    )
    return f'<form method="post" action="{address}">{inputs}<button>{escape(button)}</button></form>'


def press(address: str, button: str) -> str:
    """A button that posts an empty form."""
    return (
        f'<form method="post" action="{address}"'
        f' style="display:inline"><button>{escape(button)}</button></form>'
    )
