"""Named queries: one SQL file each, found by its name.

The first comment line says what the query answers. A line `-- parameter NAME: meaning [default: VALUE]`
declares a parameter, which the SQL uses as `$NAME`; one without a default must be given. A line with
`{dimension}` stands once for each complexity dimension.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

from taskloom.resources.dimensions import once_per_dimension
from taskloom.warehouse.errors import QueryFailedError, UnknownQueryError

_PARAMETER = re.compile(
    r"^-- parameter (?P<name>[a-z_]+): (?P<meaning>.*?)(?: \[default: (?P<default>.*)\])?$"
)


@dataclass(frozen=True, slots=True)
class QueryParameter:
    """A parameter of a named query."""

    name: str
    """Name, as in `--param NAME=VALUE`."""
    meaning: str
    """What it does."""
    default: str | None
    """Value when it is not given; None when it must be."""


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A query with a name."""

    name: str
    """Name of its file."""
    description: str
    """What it answers."""
    parameters: tuple[QueryParameter, ...]
    """What it can be given."""
    sql: str
    """The SELECT."""

    def bind(self, given: Mapping[str, str]) -> dict[str, str]:
        """The values of all parameters.

        Raises:
            QueryFailedError: an unknown or a missing parameter.
        """
        known = {item.name: item for item in self.parameters}
        for name in given:
            if name not in known:
                raise QueryFailedError(
                    f"The query {self.name!r} has no parameter {name!r}; it has:"
                    f" {', '.join(known) or 'none'}."
                )
        missing = [item.name for item in self.parameters if item.default is None and item.name not in given]
        if missing:
            raise QueryFailedError(f"The query {self.name!r} needs --param {missing[0]}=VALUE.")
        return {name: given.get(name, item.default or "") for name, item in known.items()}


@cache
def named_queries() -> dict[str, NamedQuery]:
    """All named queries by name, sorted."""
    found = (item for item in files(__package__).iterdir() if item.name.endswith(".sql"))
    queries = (
        _parse(item.name.removesuffix(".sql"), once_per_dimension(item.read_text("utf-8"))) for item in found
    )
    return {query.name: query for query in sorted(queries, key=lambda query: query.name)}


def named_query(name: str) -> NamedQuery:
    """The query with this name.

    Raises:
        UnknownQueryError: there is none; the nearest and all known names are given.
    """
    known = named_queries()
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise UnknownQueryError(f"There is no query named {name!r}.{hint} Known: {', '.join(known)}.")
    return known[name]


def _parse(name: str, text: str) -> NamedQuery:
    lines = text.splitlines()
    parameters = []
    for line in lines[1:]:
        match = _PARAMETER.match(line)
        if match:
            parameters.append(QueryParameter(match["name"], match["meaning"], match["default"]))
    sql = "\n".join(line for line in lines if not line.startswith("--")).strip().rstrip(";")
    return NamedQuery(name, lines[0].removeprefix("--").strip(), tuple(parameters), sql)
