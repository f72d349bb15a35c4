"""Limits that no slow or busy machine reaches: against hangs, and against work that grows faster than its
input."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_SECONDS = 600.0
"""How long tests wait for what must happen some time; only a hang takes so long."""


@contextmanager
def work_within(seconds: float) -> Iterator[None]:
    """The block takes this thread less than `seconds` of computing; what the machine does meanwhile counts
    for nothing."""
    started = time.thread_time()
    yield
    taken = time.thread_time() - started
    assert taken < seconds, f"it took {taken:.1f} s of computing, and {seconds} s are allowed"
