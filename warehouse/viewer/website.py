"""What every page needs: the warehouse, the templates, and a cache of results."""

import json
import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from typing import TypeVar, cast
from urllib.parse import parse_qs, urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException

from taskloom.resources.dimensions import EVERY_CELL, LEVELS, TABLE
from taskloom.resources.record import Record
from taskloom.taskgraph.measures.cells import possible_cells
from taskloom.warehouse import viewer
from taskloom.warehouse.store import Warehouse

ASSETS = {
    "style.css": "text/css; charset=utf-8",
    "viewer.js": "text/javascript; charset=utf-8",
    "play.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
"""Files that pages load, and their media types."""


def page_templates() -> Environment:
    """The templates; they escape every value."""
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=PackageLoader(viewer.__name__),
    )
    environment.globals["dimension_table"] = TABLE
    environment.globals["level_names"] = LEVELS
    environment.globals["combinations"] = len(EVERY_CELL)
    environment.globals["combinations_that_exist"] = len(possible_cells())
    environment.filters["number"] = number
    environment.filters["json"] = partial(json.dumps, ensure_ascii=False)
    return environment


def asset(name: str) -> str:
    """The text of a file in `viewer/assets/`, wherever the package is installed."""
    return files(viewer).joinpath("assets", name).read_text(encoding="utf-8")


def number(value: object) -> str:
    """A number for people: thousands separated, at most four decimals, a dash for None.

    >>> number(1234567), number(0.5), number(None), number(3.0)
    ('1,234,567', '0.5', '–', '3')
    """
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.0f}" if value == int(value) else f"{value:,.4f}".rstrip("0")
    return f"{value:,}" if isinstance(value, int) else str(value)


_SECONDS_UNVERSIONED = 15.0
_MAX_FORM_BYTES = 64 * 1024
_FORM = "application/x-www-form-urlencoded"
R = TypeVar("R", bound=Record)
PRESENT = "present state"
NAVIGATION = (
    ("Overview", "/", "o"),
    ("Complexity", "/complexity", "c"),
    ("Tasks", "/tasks", "t"),
    ("Subtasks", "/subtasks", "s"),
    ("Agents", "/experiments", "a"),
    ("Costs", "/costs", "m"),
    ("Review", "/review", "r"),
    ("SQL", "/sql", "q"),
)
"""Pages of the top row: title, path, and the key that opens it after `g`."""


class Site:
    """The warehouse as a site. May be used from several threads."""

    def __init__(
        self, store: Warehouse, base_path: str, versions: Callable[[], Sequence[tuple[str, str]]]
    ) -> None:
        """Show `store`, which the caller closes, below `base_path`; `versions` returns what else there is."""
        self.store = store
        self.base_path = base_path
        self._versions = versions
        self.cache = Cache(None if store.version else _SECONDS_UNVERSIONED)
        self._versions_cache = Cache(_SECONDS_UNVERSIONED)
        self._templates = page_templates()

    def page(self, template: str, status: int = 200, /, **values: object) -> HTMLResponse:
        """A rendered page; every value is escaped unless its template says otherwise."""
        text = self._templates.get_template(template).render(
            navigation=NAVIGATION,
            version=self.store.version or PRESENT,
            versions_known=self._versions_cache.get("versions", self._versions),
            base_path=self.base_path,
            **values,
        )
        return HTMLResponse(text, status_code=status)

    def find_record(self, record: type[R], key: str, name: str, noun: str) -> R:
        """The record whose column `key` is `name`; if there is none, status 404 calls it `noun`."""
        item = self.store.find(record, key, name)
        if item is None:
            raise HTTPException(404, f"There is no {noun} {name} in {self.store.version or 'the warehouse'}.")
        return item


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form, several values joined with commas; an `HTTPException` if it is not a form,
    or too long."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != _FORM:
        raise HTTPException(415, "Only forms are accepted here.")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MAX_FORM_BYTES:
            raise HTTPException(413, "This form is too long.")
    try:
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=60)
    except ValueError:
        raise HTTPException(400, "This form cannot be read.") from None
    return {name: ",".join(values) for name, values in fields.items()}


def address(path: str, query: Mapping[str, str]) -> str:
    """A path with the parameters that are not empty.

    >>> address("/tasks", {"text": "a&b", "status": ""})
    '/tasks?text=a%26b'
    """
    parameters = urlencode({name: value for name, value in query.items() if value})
    return f"{path}?{parameters}" if parameters else path


T = TypeVar("T")
_MAX_ENTRIES = 200


class Cache:
    """Keeps the latest 200 results by key; thread-safe."""

    def __init__(self, seconds: float | None) -> None:
        """Keep results for `seconds`; None keeps them for ever, which is safe for a published version."""
        self._seconds = seconds
        self._lock = threading.Lock()
        self._entries: dict[Hashable, tuple[float, object]] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result kept for `key`, or a new one from `make`."""
        return self.get_or_update(key, lambda _: make())

    def get_or_update(self, key: Hashable, make: Callable[[T | None], T]) -> T:
        """The result kept for `key`, or a new one that `make` derives from the expired one, if any."""
        now = time.monotonic()
        with self._lock:
            entry = self._entries.get(key)
        previous = None if entry is None else cast(T, entry[1])
        if entry is not None and (self._seconds is None or now - entry[0] < self._seconds):
            return cast(T, entry[1])
        result = make(previous)
        with self._lock:
            self._entries.pop(key, None)
            self._entries[key] = (now, result)
            while len(self._entries) > _MAX_ENTRIES:
                self._entries.pop(next(iter(self._entries)))
        return result
