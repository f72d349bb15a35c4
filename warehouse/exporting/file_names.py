"""Ids as file names and back: ids are opaque and may hold any character."""

from __future__ import annotations

import hashlib
from pathlib import Path
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


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hashes_of(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of a folder, by its path there."""
    return {
        path.relative_to(folder).as_posix(): _hash(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
