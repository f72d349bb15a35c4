"""Processor time of this process and of all processes that it started, by purpose.

`/proc` is read twice a second. What a process used after its last reading shows up in its parent's time for
reaped children, so it is lost only if the parent ends with it.
"""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

_EVERY_SECONDS = 0.5
_UNRELATED_EVERY = 10
"""Number of readings after which ids of unrelated processes are re-examined: they may be reused."""
_TICK = os.sysconf("SC_CLK_TCK")
OWN, BROWSERS, APPLICATIONS = "taskloom", "browsers", "applications"
_MARKS = {
    "taskloom.flows.running.prefect_server": "orchestration",
    "playwright/driver": BROWSERS,
    "/monty\0": "sandbox",
    "machines/reaper.py": OWN,
    "multiprocessing": OWN,
    "distributed": OWN,
}
"""Parts of command lines that reveal the purpose of a process and its children."""


@dataclass(frozen=True, slots=True)
class ProcessTimes:
    """One process at one moment."""

    parent: int
    used: float
    """Its own processor time, in seconds."""
    waited: float
    """Processor time of the ended children that it waited for, and of their descendants."""
    purpose: str = ""
    """Its purpose; empty if its command line does not reveal it."""


Processes = Mapping[tuple[int, int], ProcessTimes]
"""Processes by id and start time, so that a reused id is another process."""


class CoreSeconds:
    """Sums processor time by purpose, from entering to leaving the context."""

    def __init__(self) -> None:
        """Prepare; nothing is counted yet."""
        self._spent: dict[str, float] = {}
        self._last: Processes = {}
        self._unrelated: set[int] = set()
        self._readings = 0
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_reading, name="core-seconds", daemon=True)

    def __enter__(self) -> CoreSeconds:
        """Start counting; earlier use does not count."""
        self._last = descendants_of(os.getpid(), _processes((), ()), {})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop counting."""
        self._stop.set()
        self._thread.join()

    def so_far(self) -> dict[str, float]:
        """Seconds by purpose since entering."""
        with self._lock:
            self._readings += 1
            if self._readings % _UNRELATED_EVERY == 0:
                self._unrelated.clear()
            machine = _processes({number for number, _ in self._last}, self._unrelated)
            now = descendants_of(os.getpid(), machine, self._last)
            self._unrelated.update(number for number, _ in machine.keys() - now.keys())
            self._spent = _sum(self._spent, spent_between(self._last, now))
            self._last = now
            return dict(self._spent)

    def _keep_reading(self) -> None:
        while not self._stop.wait(_EVERY_SECONDS):
            self.so_far()


def since(before: Mapping[str, float], now: Mapping[str, float]) -> dict[str, float]:
    """Seconds added between two moments, by purpose, in tenths, the largest first."""
    added = {name: round(value - before.get(name, 0.0), 1) for name, value in now.items()}
    return {name: value for name, value in sorted(added.items(), key=lambda item: -item[1]) if value > 0}


def total_of(stages: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The seconds of several stages by purpose, the largest first."""
    return since({}, _sum(*stages))


def describe_spent(spent: Mapping[str, float], subtasks: int) -> str:
    """Seconds by purpose, and per verified subtask, in one line.

    >>> describe_spent({"browsers": 30.0, "taskloom": 12.0}, 3)
    '42 core-seconds (browsers 30, taskloom 12); 14.0 per subtask verified'
    """
    total = sum(spent.values())
    parts = ", ".join(f"{name} {value:.0f}" for name, value in spent.items())
    each = f"; {total / subtasks:.1f} per subtask verified" if subtasks else ""
    return f"{total:.0f} core-seconds ({parts}){each}"


def descendants_of(root: int, processes: Processes, before: Processes) -> Processes:
    """The process `root` and its descendants, including former ones (in `before`), with their purposes."""
    by_id = {key[0]: key for key in processes}
    purposes: dict[tuple[int, int], str] = {}

    def purpose(key: tuple[int, int]) -> str:
        """The purpose of a process; empty if it is not a descendant."""
        if key not in purposes:
            process, known = processes[key], before.get(key)
            purposes[key] = OWN if key[0] == root else ""  # ends the recursion if parents form a cycle
            parent = by_id.get(process.parent)
            inherited = OWN if key[0] == root else purpose(parent) if parent else ""
            if inherited and key[0] != root:
                purposes[key] = process.purpose or (APPLICATIONS if inherited == OWN else inherited)
            elif known is not None and not inherited:
                purposes[key] = known.purpose  # its parent ended
        return purposes[key]

    return {
        key: ProcessTimes(process.parent, process.used, process.waited, purpose(key))
        for key, process in processes.items()
        if purpose(key)
    }


def spent_between(before: Processes, now: Processes) -> dict[str, float]:
    """Seconds by purpose between two readings.

    Children's time beyond their last reading counts towards the purpose of those that ended, or towards the
    parent's own if all of them started and ended between two readings.
    """
    spent: defaultdict[str, float] = defaultdict(float)
    ended: dict[int, list[ProcessTimes]] = {}
    for key, process in before.items():
        if key not in now:
            ended.setdefault(process.parent, []).append(process)
    for key, process in now.items():
        last = before.get(key, ProcessTimes(process.parent, 0.0, 0.0))
        spent[process.purpose] += max(0.0, process.used - last.used)
        children = ended.get(key[0], [])
        unread = process.waited - last.waited - sum(child.used + child.waited for child in children)
        spent[children[0].purpose if children else process.purpose] += max(0.0, unread)
    return spent


def _sum(*parts: Mapping[str, float]) -> dict[str, float]:
    total: defaultdict[str, float] = defaultdict(float)
    for part in parts:
        for name, value in part.items():
            total[name] += value
    return dict(total)


def _processes(known: Collection[int], unrelated: Collection[int]) -> Processes:
    """The processes of the machine except `unrelated` ones, with the purposes of the descendants of this
    process and of `known` ones; none without `/proc`."""
    rows: dict[int, list[bytes]] = {}
    children: defaultdict[int, list[int]] = defaultdict(list)
    with suppress(OSError):
        for entry in os.scandir("/proc"):
            if entry.name.isdigit() and (number := int(entry.name)) not in unrelated:
                with suppress(OSError):
                    rows[number] = fields = _read(number, "stat").rpartition(b")")[2].split()
                    children[int(fields[1])].append(number)
    purposes, pending = (
        {os.getpid(): ""},
        [*children[os.getpid()], *(number for number in known if number in rows)],
    )
    while pending:
        number = pending.pop()
        if number not in purposes:
            purposes[number] = _purpose(number)
            pending += children[number]
    processes = {}
    for number, fields in rows.items():
        used, waited = (sum(map(int, fields[at : at + 2])) / _TICK for at in (11, 13))
        times = ProcessTimes(int(fields[1]), used, waited, purposes.get(number, ""))
        processes[number, int(fields[19])] = times
    return processes


def _purpose(number: int) -> str:
    with suppress(OSError):
        command = _read(number, "cmdline").decode(errors="replace")
        return next((name for mark, name in _MARKS.items() if mark in command), "")
    return ""


def _read(number: int, name: str) -> bytes:
    with open(f"/proc/{number}/{name}", "rb", buffering=0) as file:  # noqa: PTH123 - a third of the time
        return file.read()
