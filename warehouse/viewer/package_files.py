"""Templates and assets of the report and the viewer, read from the installed package."""

from __future__ import annotations

import json
from functools import partial
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined

from taskloom.resources.dimensions import EVERY_CELL, LEVELS, TABLE
from taskloom.taskgraph.measures.cells import possible_cells
from taskloom.warehouse import viewer

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
        loader=FunctionLoader(_template),
    )
    environment.globals["dimension_table"] = TABLE
    environment.globals["level_names"] = LEVELS
    environment.globals["combinations"] = len(EVERY_CELL)
    environment.globals["combinations_that_exist"] = len(possible_cells())
    environment.filters["number"] = number
    environment.filters["json"] = partial(json.dumps, ensure_ascii=False)
    return environment


def asset(name: str) -> str:
    """The text of a file in `viewer/assets/`, read from wherever the package is installed."""
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


def _template(name: str) -> str | None:
    found = files(viewer).joinpath("templates", name)
    return found.read_text(encoding="utf-8") if found.is_file() else None
