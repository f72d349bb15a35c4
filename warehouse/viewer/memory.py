"""A cache of answers, so that a page over many tasks does not count them again at every visit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import TypeVar, cast

T = TypeVar("T")
_LONGEST = 200


class Memory:
    """Keeps the latest 200 answers by key; thread-safe."""

    def __init__(self, seconds: float | None) -> None:
        """Keep answers for `seconds`; None keeps them for ever, which is safe for a published version."""
        self._seconds = seconds
        self._guard = threading.Lock()
        self._kept: dict[Hashable, tuple[float, object]] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The kept answer for `key`, or the one that `make` gives now."""
        now = time.monotonic()
        with self._guard:
            kept = self._kept.get(key)
        if kept is not None and (self._seconds is None or now - kept[0] < self._seconds):
            return cast(T, kept[1])
        made = make()
        with self._guard:
            self._kept.pop(key, None)
            self._kept[key] = (now, made)
            while len(self._kept) > _LONGEST:
                self._kept.pop(next(iter(self._kept)))
        return made
