"""The time that runs are dated with; another clock can be set for a block of code, such as one that simulates
a week."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Tells the time, in UTC."""


def _of_the_machine() -> datetime:
    return datetime.now(UTC)


_clock: ContextVar[Clock] = ContextVar("clock", default=_of_the_machine)


def now() -> datetime:
    """The time, in UTC."""
    return _clock.get()()


@contextmanager
def dated_by(clock: Clock) -> Iterator[None]:
    """Date everything that runs in the block by `clock`."""
    token = _clock.set(clock)
    try:
        yield
    finally:
        _clock.reset(token)
