"""Ids as file names and back: ids are opaque and may hold any character."""

from __future__ import annotations

from urllib.parse import quote, unquote


def safe_name(item_id: str) -> str:
    """A file name for an id: letters, digits, `._-` and parentheses stay, everything else is percent-encoded.

    >>> safe_name("notes.create:ab/../c"), safe_name("12(0)"), safe_name("..")
    ('notes.create%3Aab%2F..%2Fc', '12(0)', '%2E%2E')
    """
    name = quote(item_id, safe="()")
    return name.replace(".", "%2E") if set(name) == {"."} else name


def id_of_name(name: str) -> str:
    """The id that a file name stands for.

    >>> id_of_name(safe_name("a b/ü"))
    'a b/ü'
    """
    return unquote(name)
