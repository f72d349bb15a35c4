"""Takes reviews from the viewer's own pages and stores them."""

import asyncio
import secrets
import threading
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from taskloom.taskgraph.records.criticism import Review
from taskloom.warehouse.store import Warehouse


class ReviewDesk:
    """Stores reviews in the present state of a warehouse. May be used from several threads.

    Each viewer has a token of its own, made when it starts: a form without it was not made by this viewer.
    """

    def __init__(self, address: str | Path) -> None:
        """Write to the warehouse at `address`; it is opened for each review and closed again."""
        self.token = secrets.token_urlsafe(32)
        self._address = address
        self._guard = threading.Lock()

    def knows(self, token: str) -> bool:
        """Whether a form was made by this viewer."""
        return secrets.compare_digest(token.encode(), self.token.encode())

    def store(self, review: Review) -> None:
        """Store and commit a review, or raise."""
        with self._guard, Warehouse(self._address) as opened:
            opened.write([review])


class WritesAlone:
    """Answers a POST when all other requests have ended, and holds up new ones until then."""

    def __init__(self, app: ASGIApp) -> None:
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
