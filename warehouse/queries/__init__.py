"""Named queries: one SQL file each, found by its name.

The first comment line describes the result. A line `-- parameter NAME: meaning [default: VALUE]`
declares a parameter, which the SQL uses as `$NAME`; one without a default must be given. A line with
`{dimension}` is repeated for each complexity dimension.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import ModuleType
from typing import cast

from taskloom.resources.dimensions import once_per_dimension
from taskloom.resources.errors import no_such
from taskloom.resources.plugins import PluginKind
from taskloom.warehouse.errors import QueryFailedError, UnknownQueryError

QUERIES: PluginKind[object] = PluginKind(
    "package of named queries", UnknownQueryError, group="taskloom.queries"
)
"""Each is a package with files like those next to this module."""
_PARAMETER = re.compile(r"^parameter (?P<name>[a-z_]+): (?P<meaning>.*?)(?: \[default: (?P<default>.*)\])?$")


@dataclass(frozen=True, slots=True)
class QueryParameter:
    """A parameter of a named query."""

    name: str
    meaning: str
    default: str | None
    """Value when it is not given; None when it must be."""


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A query with a name."""

    name: str
    description: str
    parameters: tuple[QueryParameter, ...]
    sql: str

    def bind(self, values: Mapping[str, str]) -> dict[str, str]:
        """The values of all parameters; `QueryFailedError` for an unknown or a missing one."""
        known = {item.name: item for item in self.parameters}
        for name in values:
            if name not in known:
                raise QueryFailedError(
                    f"The query {self.name!r} has no parameter {name!r}; it has:"
                    f" {', '.join(known) or 'none'}."
                )
        missing = [item.name for item in self.parameters if item.default is None and item.name not in values]
        if missing:
            raise QueryFailedError(f"The query {self.name!r} needs --param {missing[0]}=VALUE.")
        return {name: values.get(name, item.default or "") for name, item in known.items()}


def named_queries() -> dict[str, NamedQuery]:
    """All named queries by name, sorted; taskloom's own replace others of the same name."""
    queries: dict[str, NamedQuery] = {}
    for _, package in QUERIES.each():
        queries |= _queries_of(cast(ModuleType, package).__name__)
    return dict(sorted({**queries, **_queries_of(__package__)}.items()))


def named_query(name: str) -> NamedQuery:
    """The query with this name; `UnknownQueryError` gives the nearest and all known names."""
    known = _queries_of(__package__)
    if name not in known:
        known = named_queries()
    if name not in known:
        raise UnknownQueryError(no_such("query", name, known))
    return known[name]


@cache
def _queries_of(package: str) -> dict[str, NamedQuery]:
    return {
        name: NamedQuery(
            name,
            "".join(comments[:1]),
            tuple(
                QueryParameter(match["name"], match["meaning"], match["default"])
                for match in filter(None, map(_PARAMETER.match, comments[1:]))
            ),
            sql,
        )
        for name, comments, sql in sql_files(package)
    }


def sql_files(package: str) -> Iterator[tuple[str, list[str], str]]:
    """Name, comments and SQL of each SQL file of a package, by name."""
    for item in sorted(files(package).iterdir(), key=lambda item: item.name):
        if item.name.endswith(".sql"):
            lines = once_per_dimension(item.read_text("utf-8")).splitlines()
            comments = [line.removeprefix("--").strip() for line in lines if line.startswith("--")]
            sql = "\n".join(line for line in lines if not line.startswith("--")).strip().rstrip(";")
            yield item.name.removesuffix(".sql"), comments, sql
