"""Restricts the viewer to the person at this machine.

The socket is bound to the loopback address, which other machines cannot reach, but the pages of other sites
in the same browser can. A name that points to 127.0.0.1 (DNS rebinding) is refused by the `Host` header, and
what another site asks for by `Sec-Fetch-Site`. The content policy lets a page load nothing but files of the
viewer.
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
"""Names under which the viewer answers."""
PROTECTION = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
"""Headers of every answer."""
_OTHER_SITES = frozenset({"cross-site", "same-site"})


class LocalOnly:
    """Refuses requests made by other sites, and adds protective headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap `app`."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(PROTECTION)
            await send(message)

        refusal = _refusal(headers.get("host", ""), headers.get("sec-fetch-site", ""))
        if refusal:
            await PlainTextResponse(refusal, status_code=403)(scope, receive, protected)
            return
        await self._app(scope, receive, protected)


def _refusal(host: str, asked_by: str) -> str:
    """Why a request is refused; empty when it is not."""
    name, _, port = host.rpartition(":")
    name = name if port.isdigit() else host
    if name.lower() not in HOSTS:
        return "The viewer answers at 127.0.0.1 and localhost only.\n"
    if asked_by in _OTHER_SITES:
        return "Another site led here. Open the address in the browser's address line.\n"
    return ""
