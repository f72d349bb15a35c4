"""Tasks and their keys, which no two sets may share, in arrays: a million tasks take a few hundred megabytes."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class KeyTable:
    """Which task holds which keys."""

    tasks: list[str]
    """Ids of the tasks."""
    keys: list[str]
    """Names of the keys."""
    starts: array[int]
    """Where the keys of each task begin in `held`, and its length at the end."""
    held: array[int]
    """Numbers of the keys of all tasks, one task after the other, sorted within each."""

    @classmethod
    def of(cls, held: Iterable[tuple[str, Iterable[str]]]) -> Self:
        """The table of pairs of a task and its keys."""
        numbers: dict[str, int] = {}
        tasks: list[str] = []
        starts, flat = array("q", [0]), array("l")
        for task, keys in held:
            tasks.append(task)
            flat.extend(sorted({numbers.setdefault(key, len(numbers)) for key in keys}))
            starts.append(len(flat))
        return cls(tasks, list(numbers), starts, flat)

    @classmethod
    def from_mapping(cls, held: Mapping[str, Iterable[str]]) -> Self:
        """The table of a mapping from tasks to their keys, tasks sorted."""
        return cls.of((task, held[task]) for task in sorted(held))

    def content(self, task: int) -> tuple[int, ...]:
        """The keys of a task, by number."""
        return tuple(self.held[self.starts[task] : self.starts[task + 1]])

    def groups(self) -> list[list[int]]:
        """Tasks that are connected through shared keys, directly or not."""
        parent = array("l", range(len(self.keys)))

        def root(key: int) -> int:
            while parent[key] != key:
                parent[key] = parent[parent[key]]
                key = parent[key]
            return key

        for task in range(len(self.tasks)):
            start, end = self.starts[task], self.starts[task + 1]
            if end - start > 1:
                first = root(self.held[start])
                for at in range(start + 1, end):
                    parent[root(self.held[at])] = first
        found: dict[int, list[int]] = {}
        for task in range(len(self.tasks)):
            start = self.starts[task]
            name = root(self.held[start]) if start < self.starts[task + 1] else -1 - task
            found.setdefault(name, []).append(task)
        return list(found.values())

    def users(self) -> list[int]:
        """How many tasks hold each key."""
        counts = [0] * len(self.keys)
        for key in self.held:
            counts[key] += 1
        return counts
