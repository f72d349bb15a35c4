"""Views over the nested tables, one SQL file each.

The first comment line of a file says what a row is; every further comment line `-- column: meaning` explains
a column. A line with `{dimension}` is repeated for each complexity dimension.
"""

from dataclasses import dataclass
from functools import cache

from taskloom.warehouse.queries import sql_files


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
    return tuple(
        View(name.split("-", 1)[1], comments[0], dict(line.split(": ", 1) for line in comments[1:]), sql)
        for name, comments, sql in sql_files(__package__)
    )
