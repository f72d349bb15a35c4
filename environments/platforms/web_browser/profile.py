"""The profile of one browser process: cached files stay from one episode to the next, everything else goes.
Only the application in front at a reset works in it, because cookies do not tell ports apart. What cannot be
cleared for certain spoils the profile: it is thrown away, and the application that did it gets fresh contexts
from then on."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, CDPSession, Request, Response
from playwright.async_api import Error as BrowserError

from taskloom.resources.applications import Application

PERMISSIONS = ("clipboard-read", "clipboard-write")
"""What every page may do."""
_CLOSING_SECONDS = 10.0
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]", "::1", ""})


class KeptProfile:
    """The browser's own context, lent to one application at a time."""

    def __init__(self, context: BrowserContext, protocol: CDPSession) -> None:
        self._context = context
        self._protocol = protocol
        self._blank = context.pages[0]
        self._application = ""
        self._origin = ""
        self._asks_server = False
        self.spoiled_by: dict[str, str] = {}
        """Applications that left what cannot be cleared, with the reason."""
        context.on("request", self._hear_request)

    @classmethod
    async def of(cls, context: BrowserContext) -> KeptProfile:
        """The profile of a browser that was just started with `context` and its blank page."""
        return cls(context, await context.new_cdp_session(context.pages[0]))

    async def lend(self, application: Application, address: str) -> BrowserContext:
        """The context, with nothing in it but cached files, for `application` at `address`."""
        if self._origin:
            await self._clear(self._origin)
        self._application, self._origin = application.name, _origin(address)
        asks, self._asks_server = self._asks_server, bool(application.launch.command)
        if asks != self._asks_server:
            # The browser asks a server whether a cached file is still right, whatever was said before.
            headers = {"Cache-Control": "max-age=0"} if self._asks_server else {}
            await self._context.set_extra_http_headers(headers)
            change = self._context.on if self._asks_server else self._context.remove_listener
            change("response", self._hear_response)
        return self._context

    async def take_back(self) -> None:
        """Close every page of the episode, without asking."""
        try:
            async with asyncio.timeout(_CLOSING_SECONDS):
                while pages := [page for page in self._context.pages if page is not self._blank]:
                    await asyncio.gather(*(page.close() for page in pages))
        except (BrowserError, TimeoutError) as error:
            self._spoil(f"a page does not close ({type(error).__name__})")

    async def _clear(self, origin: str) -> None:
        await self._context.clear_cookies()
        await self._context.clear_permissions()
        await self._context.grant_permissions(PERMISSIONS)
        await self._protocol.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        left = await self._protocol.send("Storage.getUsageAndQuota", {"origin": origin})
        if left["usage"]:
            self._spoil(f"{left['usage']} bytes of {left['usageBreakdown']} stay")

    def _hear_request(self, request: Request) -> None:
        if request.is_navigation_request():
            origin, host = _origin(request.url), urlsplit(request.url).hostname or ""
            if origin != self._origin and host and is_loopback(host):
                self._spoil(f"it opens pages of another origin ({host})")

    def _hear_response(self, response: Response) -> None:
        """Spoil by what a server says once and the browser keeps, or cannot ask about exactly: a time of
        change has whole seconds."""
        headers = response.headers
        if "www-authenticate" in headers:
            self._spoil("its server asks for a password")
        elif (
            "last-modified" in headers
            and "etag" not in headers
            and "no-store" not in headers.get("cache-control", "")
            and response.request.resource_type not in ("script", "stylesheet", "font")
        ):
            self._spoil("its server tells changed content by the second only")

    def _spoil(self, reason: str) -> None:
        self.spoiled_by.setdefault(self._application, reason)


def is_loopback(host: str) -> bool:
    """Whether a host name can only mean this machine."""
    return host in _LOOPBACK or host.startswith("127.") or host.endswith(".localhost")


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
