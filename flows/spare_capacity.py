"""What the machine has to spare: unused processor time and memory.

In a container with limits (control groups, version 2) these are the container's, otherwise the machine's.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_CONTROL_GROUP = Path("/sys/fs/cgroup")
_STAT, _MEMORY = Path("/proc/stat"), Path("/proc/meminfo")
_TICK = os.sysconf("SC_CLK_TCK")
_IDLE = slice(4, 6)
"""Fields of the line of a core in `/proc/stat`: idle, and waiting for a disk."""
_GB = 1e9
_PER_CORE = 2
"""Environments that keep a core busy while none waits for a model: they idle half of the time."""
_GB_EACH = 1.0
"""An environment with its browser and applications takes 0.7 GB."""
_MOST_ENVIRONMENTS = 64
_GROWS_FROM, _SHRINKS_FROM = 0.25, 0.03
"""Idle shares of the processor that leave room for one more environment, and that mean one too many."""


def cores() -> float:
    """Cores that this process may use, within any limit of its container."""
    quota = _core_limit()
    count = len(os.sched_getaffinity(0))
    return min(count, quota) if quota else count


def free_gb() -> float:
    """Available memory, in 10^9 bytes, including file caches."""
    lines = (line.split() for line in _MEMORY.read_text().splitlines())
    free = next(int(words[1]) * 1024 for words in lines if words[0] == "MemAvailable:")
    limit = _read(_CONTROL_GROUP / "memory.max")
    if limit.isdecimal():
        cached = _figures(_CONTROL_GROUP / "memory.stat").get("inactive_file", 0)
        free = min(free, int(limit) - int(_read(_CONTROL_GROUP / "memory.current") or 0) + cached)
    return free / _GB


@cache
def first_environments() -> int:
    """How many environments a run on this machine starts with; the same for every call in a process."""
    return max(1, min(_MOST_ENVIRONMENTS, int(_PER_CORE * cores()), int(free_gb() / _GB_EACH)))


@dataclass(slots=True)
class SpareCapacity:
    """Tells repeatedly whether the machine can run one more environment, or runs one too many.

    While a model thinks, environments use a tenth of what recorded steps use.
    """

    first: int = 1
    """How many environments the run started with; a busy processor alone is no reason to have fewer."""
    _last_reading: tuple[float, float] = field(default_factory=lambda: (time.monotonic(), _idle_seconds()))

    def change(self, environments: int) -> int:
        """1, 0 or -1, given the number of `environments` and the idle time since the last call."""
        (then, before), self._last_reading = self._last_reading, (time.monotonic(), _idle_seconds())
        now, idle = self._last_reading
        share = (idle - before) / max(now - then, 1e-9) / cores()
        return wanted_change(share, free_gb(), environments, self.first)


def wanted_change(idle: float, free: float, environments: int, first: int) -> int:
    """Whether there is room for one environment more (1), as many as now (0), or one fewer (-1).

    `idle` is the unused share of the processor, `free` the memory in 10^9 bytes, `first` the initial number
    of environments.
    """
    if idle >= _GROWS_FROM and free >= 2 * _GB_EACH and environments < _MOST_ENVIRONMENTS:
        return 1
    fewer = (idle < _SHRINKS_FROM and environments > first) or (free < _GB_EACH and environments > 1)
    return -1 if fewer else 0


def _idle_seconds() -> float:
    """Idle core-seconds, since an arbitrary moment, of the cores that this process may use."""
    if quota := _core_limit():
        used = _figures(_CONTROL_GROUP / "cpu.stat").get("usage_usec", 0)
        return quota * time.monotonic() - used / 1e6
    own = {f"cpu{number}" for number in os.sched_getaffinity(0)}
    lines = (line.split() for line in _STAT.read_text().splitlines())
    return sum(sum(map(int, words[_IDLE])) for words in lines if words[0] in own) / _TICK


def _figures(file: Path) -> dict[str, int]:
    return {name: int(value) for name, value in (line.split() for line in _read(file).splitlines())}


def _core_limit() -> float | None:
    quota, _, period = _read(_CONTROL_GROUP / "cpu.max").partition(" ")
    return int(quota) / int(period) if quota.isdecimal() else None


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
