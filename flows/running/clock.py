"""The time that runs are dated with."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)
