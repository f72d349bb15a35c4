"""Which items are drawn: by a number derived from the item, so that every run draws the same ones."""

from __future__ import annotations

import hashlib


def lot(name: str) -> float:
    """A number from 0 to 1 that depends on `name` alone.

    >>> lot("task") == lot("task") != lot("critic task")
    True
    """
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") / 2**64
