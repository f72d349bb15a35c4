"""Views over the nested tables, one SQL file each.

The first comment line of a file says what a row is; every further comment line `-- column: meaning` explains
a column. A line with `{dimension}` stands once for each complexity dimension.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from taskloom.resources.dimensions import once_per_dimension


@dataclass(frozen=True, slots=True)
class View:
    """One view."""

    name: str
    comment: str
    columns: dict[str, str]
    sql: str


@cache
def views() -> tuple[View, ...]:
    """All views, those that others use first (by the number before the name)."""
    found = sorted(
        (item for item in files(__package__).iterdir() if item.name.endswith(".sql")),
        key=lambda item: item.name,
    )
    return tuple(
        _parse(item.name.removesuffix(".sql").split("-", 1)[1], once_per_dimension(item.read_text("utf-8")))
        for item in found
    )


def _parse(name: str, text: str) -> View:
    lines = text.splitlines()
    comments = [line.removeprefix("--").strip() for line in lines if line.startswith("--")]
    sql = "\n".join(line for line in lines if not line.startswith("--")).strip().rstrip(";")
    columns = dict(line.split(": ", 1) for line in comments[1:])
    return View(name, comments[0], columns, sql)
