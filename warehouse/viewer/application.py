"""The viewer as a web application: read-only, for this machine alone."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

from warehouse.errors import (
    QueryFailedError,
    QueryRefusedError,
    ScreenshotMissingError,
    SelectionInvalidError,
    WarehouseBusyError,
    WarehouseError,
)
from warehouse.store import Warehouse
from warehouse.viewer.local_only import LocalOnly
from warehouse.viewer.package_files import ASSETS, asset
from warehouse.viewer.pages import dataset_pages, sql_page, subtask_pages, task_pages
from warehouse.viewer.version_switch import Choices, VersionPaths, VersionSwitch
from warehouse.viewer.website import Site

_FOREVER = "public, max-age=31536000, immutable"
_BAD_REQUESTS = (QueryFailedError, QueryRefusedError, SelectionInvalidError)


def create_application(store: Warehouse) -> FastAPI:
    """The pages over `store`, which should be open read-only; the caller closes it.

    Guarantees: answers only requests addressed to this machine by a name of its own; sends nothing that loads from
    elsewhere; escapes all text of the dataset; changes nothing.
    """
    switch = VersionSwitch(store, _pages)
    application = _pages(store, "", switch.choices)
    application.add_middleware(VersionPaths, switch=switch)
    application.add_middleware(LocalOnly)
    return application


def _pages(store: Warehouse, at: str, versions: Choices) -> FastAPI:
    """The pages of one state of the warehouse, whose addresses begin with `at`."""
    site = Site(store, at, versions)
    application = FastAPI(title="taskloom", docs_url=None, redoc_url=None, openapi_url=None)
    for pages in (dataset_pages, task_pages, subtask_pages, sql_page):
        pages.add_pages(application, site)
    _add_files(application, store)

    @application.exception_handler(HTTPException)
    def say_status(request: Request, error: HTTPException) -> HTMLResponse:
        title = HTTPStatus(error.status_code).phrase
        message = "" if error.detail == title else error.detail
        return site.page("problem.html.jinja", error.status_code, title=title, message=message)

    @application.exception_handler(WarehouseError)
    def say_problem(request: Request, error: WarehouseError) -> HTMLResponse:
        status, title = 500, "The warehouse cannot be read"
        if isinstance(error, WarehouseBusyError):
            status, title = 503, "The warehouse is busy"
        elif isinstance(error, _BAD_REQUESTS):
            status, title = 400, "This cannot be asked"
        return site.page("problem.html.jinja", status, title=title, message=str(error))

    return application


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
