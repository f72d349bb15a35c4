"""Other versions of the dataset, each below a path of its own: `/at/v1/tasks` lists the tasks of `v1`."""

import threading
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Final
from urllib.parse import quote, unquote

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from taskloom.warehouse.errors import VersionError
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.website import PRESENT

Choices = Callable[[], Sequence[tuple[str, str]]]
"""Gives the names of versions, each with the path its pages begin with."""
_BELOW: Final = "/at/"
_PRESENT_PATH: Final = "-"
"""Stands for the present state where the viewer was opened at a version; no version may be called so."""
_MOST_OPEN: Final = 8


class VersionSwitch:
    """Opens versions when they are first asked for, and keeps the latest eight. Used from several threads."""

    def __init__(self, store: Warehouse, pages: Callable[[Warehouse, str, Choices], ASGIApp]) -> None:
        self._store = store
        self._pages = pages
        self._guard = threading.Lock()
        self._latest = lru_cache(_MOST_OPEN)(self._opened)

    def choices(self) -> Sequence[tuple[str, str]]:
        """The present state and all versions, the latest first; nothing where no version is published."""
        names = [version.name for version in reversed(self._present.versions())]
        if not names:
            return ()
        return tuple((name or PRESENT, self._path(name)) for name in ("", *names))

    @cached_property
    def _present(self) -> Warehouse:
        return self._store if self._store.version is None else self._store.reopened()

    def _path(self, name: str) -> str:
        if name == (self._store.version or ""):
            return ""
        return f"{_BELOW}{quote(name) if name else _PRESENT_PATH}"

    @property
    def present_path(self) -> str:
        """The path that the pages of the present state begin with."""
        return self._path("")

    def page_of(self, name: str) -> ASGIApp:
        """The pages of a version; `VersionError` where there is none."""
        with self._guard:
            return self._latest(name)

    def _opened(self, name: str) -> ASGIApp:
        version = None if name == _PRESENT_PATH else name
        return self._pages(self._store.reopened(version), f"{_BELOW}{quote(name)}", self.choices)


class VersionPaths:
    """Hands requests below `/at/` to the pages of the version they name."""

    def __init__(self, app: ASGIApp, switch: VersionSwitch) -> None:
        self._app = app
        self._switch = switch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        path = str(scope.get("path", ""))
        if scope["type"] != "http" or not path.startswith(_BELOW):
            await self._app(scope, receive, send)
            return
        name, _, rest = path.removeprefix(_BELOW).partition("/")
        try:
            pages = await run_in_threadpool(self._switch.page_of, unquote(name))
        except VersionError:
            # The pages of the root say what is wrong: there is no such address.
            await self._app(scope, receive, send)
            return
        inner = {**scope, "path": f"/{rest}", "raw_path": quote(f"/{rest}").encode()}
        await pages(inner, receive, send)
