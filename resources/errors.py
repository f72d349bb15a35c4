"""Errors of the catalogue.

CatalogError
├── CatalogEntryInvalid      a YAML file that breaks its schema (file, line, field, allowed values)
└── UnknownCatalogEntry      a name nobody defined (names the known ones)
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class CatalogError(Exception):
    """Anything wrong with catalogue data; never transient."""

    transient = False


class CatalogEntryInvalid(CatalogError):
    """A catalogue file does not follow its schema."""


class UnknownCatalogEntry(CatalogError):
    """A name was asked for that the catalogue does not define."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        """Say which `kind` of entry was asked for by `name`, and which names are `known`."""
        names = sorted(known)
        near = get_close_matches(name, names, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(f"There is no {kind} named {name!r}.{hint} Known: {', '.join(names) or 'none'}.")
        self.kind = kind
        self.name = name
