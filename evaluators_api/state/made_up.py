"""How values look that applications make up: times, hashes, random ids.

A guess, for pairing what belongs together and for reading addresses. It never decides that a change is none:
that is measured (`noise`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath


@lru_cache(maxsize=8192)
def steady_path(path: str) -> str:
    """`path` with `*` for each part that was generated, and for a folder named by how such a part begins.

    >>> steady_path("files/721/721956e86ec607066d8bf26a2c1c5c1b944383d3/8a9cbca2694537e15fc6fd1941def069935e4972.csv")
    'files/*/*/*.csv'
    >>> steady_path("Documents/a.csv")
    'Documents/a.csv'
    """  # noqa: E501
    parts = path.split("/")
    generated = [is_generated(PurePosixPath(part).stem) for part in parts]
    found = []
    for index, part in enumerate(parts):
        leads = index + 1 < len(parts) and generated[index + 1] and parts[index + 1].startswith(part)
        suffix = PurePosixPath(part).suffix if index == len(parts) - 1 else ""
        found.append(f"*{suffix}" if generated[index] or (leads and part) else part)
    return "/".join(found)


_GENERATED = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\b\d\d?:\d\d:\d\d\b|(?<![\d.])\d{10,17}(?!\d)"
    r"|\b(?:127\.0\.0\.1|localhost):\d+\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{17,}|\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{12,}\b"
)
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,44}")


def is_generated(value: str) -> bool:
    """Whether a value looks like a time with its seconds or date, a hash, or a random id, rather than
    something a person entered.

    >>> [is_generated(text) for text in ("2026-11-22T08:15:19.669Z", "aqKdgXWaQoVxcgUtqEy7", "20261122081519669")]
    [True, True, True]
    >>> [is_generated(text) for text in ("2026-11-22", "Quarterly report", "1250.00", "meeting-notes-for-monday")]
    [False, False, False, False]
    """  # noqa: E501
    return _GENERATED.search(value) is not None or _is_token(value)


def _is_token(value: str) -> bool:
    return (
        _TOKEN.fullmatch(value) is not None
        and any(mark.isdigit() for mark in value)
        and any(mark.islower() for mark in value)
        and any(mark.isupper() for mark in value[1:])
    )


_IDENTITY = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{12,64}"
)


def is_identity(value: str) -> bool:
    """Whether a value is, as a whole, an id that an application made up at random, and no time.

    >>> [is_identity(text) for text in ("77477e76-115d-4399-88bf-af789df13e61", "aqKdgXWaQoVxcgUtqEy7", "d41d8cd98f00b204")]
    [True, True, True]
    >>> [is_identity(text) for text in ("1795402302", "2026-11-22T08:15:19.669Z", "Opening hours", "12")]
    [False, False, False, False]
    """  # noqa: E501
    return _IDENTITY.fullmatch(value.casefold()) is not None or _is_token(value)
