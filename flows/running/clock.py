"""The time that runs are dated with."""

from datetime import UTC, datetime


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def timestamp() -> str:
    """The time, ISO 8601 in UTC, to the second."""
    return now().isoformat(timespec="seconds")
