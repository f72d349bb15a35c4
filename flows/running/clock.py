"""The current time, which dates runs."""

from datetime import UTC, datetime


def now() -> datetime:
    """The current time, in UTC."""
    return datetime.now(UTC)


def timestamp() -> str:
    """The current time, ISO 8601 in UTC, to the second."""
    return now().isoformat(timespec="seconds")
