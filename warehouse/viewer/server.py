"""Serves the viewer on the loopback address until it is interrupted.

Other versions of the dataset have a path of their own: `/at/v1/tasks` lists the tasks of `v1`.
"""

import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property, lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from taskloom.warehouse.errors import (
    QueryFailedError,
    QueryRefusedError,
    ScreenshotMissingError,
    SelectionInvalidError,
    VersionError,
    WarehouseBusyError,
    WarehouseError,
)
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.pages import (
    dataset_pages,
    experiment_pages,
    play_pages,
    recording_pages,
    review_pages,
    sql_page,
    subtask_pages,
    task_pages,
)
from taskloom.warehouse.viewer.pages.recording_pages import ReadCall
from taskloom.warehouse.viewer.pages.review_pages import ExclusiveWrites, ReviewDesk
from taskloom.warehouse.viewer.website import ASSETS, PRESENT, Site, asset

LOOPBACK = "127.0.0.1"


def listen(port: int) -> socket.socket:
    """A socket on the loopback address; port 0 takes a free one; an `OSError` says what is not allowed."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def serve(
    store: Warehouse,
    listener: socket.socket,
    *,
    review: bool = False,
    read_call: ReadCall | None = None,
    people: Path | None = None,
) -> None:
    """Answer requests at `listener` until Ctrl-C or SIGTERM; for the rest see `create_application`.

    Raises:
        KeyboardInterrupt: it was interrupted; open requests were answered first.
    """
    settings = uvicorn.Config(
        create_application(store, ReviewDesk(store.address) if review else None, read_call, people),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=3,
    )
    uvicorn.Server(settings).run(sockets=[listener])


Choices = Callable[[], Sequence[tuple[str, str]]]
"""Returns the names of versions, each with the path prefix of its pages."""
_VERSIONS_PATH: Final = "/at/"
_PRESENT_PATH: Final = "-"
"""Means the present state where the viewer was opened at a version; not a valid version name."""
_MAX_OPEN: Final = 8


class Versions:
    """Passes requests to the pages of the version that the path names, which is opened on first use.

    The eight most recent stay open. Thread-safe.
    """

    def __init__(self, store: Warehouse, pages: Callable[[Warehouse, str, Choices], ASGIApp]) -> None:
        self._store = store
        self._pages = pages
        self._lock = threading.Lock()
        self._latest = lru_cache(_MAX_OPEN)(self._open)

    def choices(self) -> Sequence[tuple[str, str]]:
        """The present state and all versions, the latest first; empty if no version is published."""
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
        return f"{_VERSIONS_PATH}{quote(name) if name else _PRESENT_PATH}"

    @property
    def present_path(self) -> str:
        """The path prefix of the pages of the present state."""
        return self._path("")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; status 404 if there is no such version."""
        name, _, rest = str(scope["path"]).removeprefix(_VERSIONS_PATH).partition("/")
        try:
            pages = await run_in_threadpool(self._pages_of, unquote(name))
        except VersionError:
            raise HTTPException(404) from None
        inner = {**scope, "root_path": "", "path": f"/{rest}", "raw_path": quote(f"/{rest}").encode()}
        await pages(inner, receive, send)

    def _pages_of(self, name: str) -> ASGIApp:
        with self._lock:
            return self._latest(name)

    def _open(self, name: str) -> ASGIApp:
        version = None if name == _PRESENT_PATH else name
        return self._pages(self._store.reopened(version), f"{_VERSIONS_PATH}{quote(name)}", self.choices)


_FOREVER = "public, max-age=31536000, immutable"
_BAD_REQUESTS = (QueryFailedError, QueryRefusedError, SelectionInvalidError)


def create_application(
    store: Warehouse,
    desk: ReviewDesk | None = None,
    read_call: ReadCall | None = None,
    people: Path | None = None,
) -> FastAPI:
    """The pages over `store`, which should be open read-only; the caller closes it.

    Guarantees: answers only requests to a local name of this machine; sends nothing that loads external
    content; escapes all text of the dataset; changes nothing, unless a `desk` takes reviews, or an attempt in
    `people` waits for a person's move. `read_call` reads the messages of a model call.
    """

    def pages_of(shown_store: Warehouse, base_path: str, versions: Choices) -> FastAPI:
        return _pages(Site(shown_store, base_path, versions), desk, read_call, people, others.present_path)

    others = Versions(store, pages_of)
    application = pages_of(store, "", others.choices)
    application.mount(_VERSIONS_PATH, others)
    if desk is not None:
        application.add_middleware(ExclusiveWrites)
    application.middleware("http")(_only_local)
    return application


def _pages(
    site: Site, desk: ReviewDesk | None, read_call: ReadCall | None, people: Path | None, present_path: str
) -> FastAPI:
    application = FastAPI(title="taskloom", docs_url=None, redoc_url=None, openapi_url=None)
    for pages in (
        experiment_pages,
        dataset_pages,
        task_pages,
        subtask_pages,
        sql_page,
    ):
        pages.add_pages(application, site)
    recording_pages.add_pages(application, site, read_call)
    if site.store.version is None:
        review_pages.add_pages(application, site, desk)
        play_pages.add_pages(application, site, people)
    else:
        _redirect_to_present(application, present_path)
    _add_files(application, site.store)
    for route in application.routes:
        if isinstance(route, APIRoute) and route.methods == {"GET"}:
            route.methods = {"GET", "HEAD"}  # for HEAD, the server sends only the headers

    @application.exception_handler(HTTPException)
    def show_status(request: Request, error: HTTPException) -> HTMLResponse:
        title = HTTPStatus(error.status_code).phrase
        message = "" if error.detail == title else error.detail
        return site.page("problem.html.jinja", error.status_code, title=title, message=message)

    @application.exception_handler(WarehouseError)
    def show_problem(request: Request, error: WarehouseError) -> HTMLResponse:
        status, title = 500, "The warehouse cannot be read"
        if isinstance(error, WarehouseBusyError):
            status, title = 503, "The warehouse is busy"
        elif isinstance(error, _BAD_REQUESTS):
            status, title = 400, "This query cannot be run"
        return site.page("problem.html.jinja", status, title=title, message=str(error))

    return application


def _redirect_to_present(application: FastAPI, present_path: str) -> None:
    """Redirect pages about the present state or all versions to the pages of the present state."""

    @application.get("/review")
    @application.get("/compare")
    @application.get("/play")
    def redirect(request: Request) -> RedirectResponse:
        query = f"?{request.url.query}" if request.url.query else ""
        page = request.url.path.rpartition("/")[2]
        return RedirectResponse(f"{present_path}/{page}{query}", status_code=303)


def _add_files(application: FastAPI, store: Warehouse) -> None:
    contents = {name: asset(name) for name in ASSETS}

    @application.get("/assets/{name}")
    def send_asset(name: str) -> Response:
        if name not in ASSETS:
            raise HTTPException(404, f"There is no file {name}.")
        return Response(contents[name], media_type=ASSETS[name], headers={"cache-control": "no-cache"})

    @application.get("/screenshots/{sha256}.png")
    def send_screenshot(sha256: str) -> Response:
        try:
            png = store.screenshots.read(sha256)
        except ScreenshotMissingError as error:
            raise HTTPException(404, str(error)) from None
        return Response(png, media_type="image/png", headers={"cache-control": _FOREVER})


HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
PROTECTION = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
_OTHER_SITES = frozenset({"cross-site", "same-site"})


async def _only_local(request: Request, respond: Callable[[Request], Awaitable[Response]]) -> Response:
    refusal = _refusal(request.headers.get("host", ""), request.headers.get("sec-fetch-site", ""))
    response = PlainTextResponse(refusal, status_code=403) if refusal else await respond(request)
    response.headers.update(PROTECTION)
    return response


def _refusal(host: str, fetch_site: str) -> str:
    name, _, port = host.rpartition(":")
    name = name if port.isdigit() else host
    if name.lower() not in HOSTS:
        return "The viewer answers at 127.0.0.1 and localhost only.\n"
    if fetch_site in _OTHER_SITES:
        return "Another site linked here. Enter the address in the browser's address bar.\n"
    return ""
