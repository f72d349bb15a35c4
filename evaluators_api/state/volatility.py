"""What applications write for themselves and says nothing about a subtask: logs, locks, caches; times and generated ids."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_SUFFIXES = frozenset(
    [
        ".crdownload",
        ".db-journal",
        ".db-shm",
        ".db-wal",
        ".journal",
        ".lock",
        ".log",
        ".part",
        ".pid",
        ".pyc",
        ".shm",
        ".sock",
        ".swp",
        ".tmp",
        ".wal",
    ]
)
_FOLDERS = frozenset(["__pycache__", ".cache", "cache", "caches", "crash", "log", "logs", "sessions", "tmp"])

_APPLICATIONS = ".applications"
_COPIES = frozenset([".backup", ".bak", ".old", ".orig"])
"""Inside the data of an application: copies that it keeps of its own files."""


def is_volatile(path: str) -> bool:
    """Whether a file is one that applications write for themselves.

    >>> is_volatile("state/app.db-wal"), is_volatile("state/logs/a.txt"), is_volatile("Documents/a.txt")
    (True, True, False)
    >>> is_volatile(".applications/x/.config.json"), is_volatile("Documents/.hidden"), is_volatile("Documents/a.bak")
    (True, False, False)
    """
    location = PurePosixPath(path.casefold())
    if location.parts[:1] == (_APPLICATIONS,) and (
        location.name.startswith(".") or location.suffix in _COPIES
    ):
        return True
    return bool(_SUFFIXES & set(location.suffixes[-1:])) or bool(_FOLDERS & set(location.parts[:-1]))


_GENERATED = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\b\d\d?:\d\d:\d\d\b|(?<![\d.])\d{10,17}(?!\d)"
    r"|\b(?:127\.0\.0\.1|localhost):\d+\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{17,}|\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{12,}\b"
)
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,44}")


def is_generated(value: str) -> bool:
    """Whether a value looks like a time with its seconds or date, a hash, or a random id, rather than something a person entered.

    >>> [is_generated(text) for text in ("2026-11-22T08:15:19.669Z", "aqKdgXWaQoVxcgUtqEy7", "20261122081519669")]
    [True, True, True]
    >>> [is_generated(text) for text in ("2026-11-22", "Quarterly report", "1250.00", "meeting-notes-for-monday")]
    [False, False, False, False]
    """
    if _GENERATED.search(value):
        return True
    return (
        _TOKEN.fullmatch(value) is not None
        and any(mark.isdigit() for mark in value)
        and any(mark.islower() for mark in value)
        and any(mark.isupper() for mark in value[1:])
    )
