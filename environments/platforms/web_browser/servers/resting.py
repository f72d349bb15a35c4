"""Whether a server has come to rest as it was started, so that its files can be put back under it.

What a program keeps in its memory cannot be seen from outside; an entry says so (`launch.reads_files_anew`).
Here is what can be seen, as the kernel tells it: further processes, open and watched files, work.
"""

import os
import time
from collections.abc import Collection
from pathlib import Path

_LOOKS = 20
_BETWEEN_LOOKS_SECONDS = 0.02
_QUIET_LOOKS = 2


def family(process: int) -> frozenset[int]:
    """Ids of a process and of all that descend from it; of none that lives apart from its parent."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                parent = int(_fields(Path(entry.path, "stat"))[1])
            except OSError:
                continue  # it ended
            children.setdefault(parent, []).append(int(entry.name))
    found, pending = set(), [process]
    while pending:
        member = pending.pop()
        found.add(member)
        pending += children.get(member, [])
    return frozenset(found)


def is_at_rest(process: int, at_start: Collection[int], folders: Collection[Path]) -> bool:
    """Whether a process has no descendants but those `at_start`, none of them works, and none has a file
    below `folders` open or mapped, or watches files. Waits for less than half a second for work to end."""
    quiet = 0
    for _ in range(_LOOKS):
        now = family(process)
        if not now <= set(at_start):
            return False
        try:
            quiet = 0 if any(map(_works, now)) else quiet + 1
            if quiet == _QUIET_LOOKS:
                return not any(_holds(member, folders) for member in now)
        except FileNotFoundError:
            quiet = 0  # a process or thread ended meanwhile
        except OSError:
            return False  # one may not be looked at
        time.sleep(_BETWEEN_LOOKS_SECONDS)
    return False


def _works(process: int) -> bool:
    return any(
        _fields(Path(task, "stat"))[0] in "RD" for task in Path("/proc", str(process), "task").iterdir()
    )


def _holds(process: int, folders: Collection[Path]) -> bool:
    for opened in Path("/proc", str(process), "fd").iterdir():
        target = opened.readlink()
        if "inotify" in target.name or any(target.is_relative_to(folder) for folder in folders):
            return True
    mapped = Path("/proc", str(process), "maps").read_text(errors="replace").splitlines()
    places = [Path(line.split(maxsplit=5)[5]) for line in mapped if "/" in line]
    return any(place.is_relative_to(folder) for place in places for folder in folders)


def _fields(stat: Path) -> list[str]:
    """State, parent and so on of a process or thread."""
    return stat.read_text(errors="replace").rpartition(")")[2].split()
