"""Lets one request write while no other one reads.

A reader and a writer of one process can wait for each other's locks on the catalogue for ever.
"""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Receive, Scope, Send


class WritesAlone:
    """Answers a POST when all other requests have ended, and holds up new ones until then."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap `app`."""
        self._app = app
        self._changed = asyncio.Condition()
        self._readers = 0
        self._writing = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["method"] == "POST":
            await self._alone(scope, receive, send)
        else:
            await self._with_others(scope, receive, send)

    async def _alone(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: not self._writing)
            self._writing = True
        try:
            async with self._changed:
                await self._changed.wait_for(lambda: not self._readers)
            await self._app(scope, receive, send)
        finally:
            async with self._changed:
                self._writing = False
                self._changed.notify_all()

    async def _with_others(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: not self._writing)
            self._readers += 1
        try:
            await self._app(scope, receive, send)
        finally:
            async with self._changed:
                self._readers -= 1
                self._changed.notify_all()
