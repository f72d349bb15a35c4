"""The names of the sets, and an array table of tasks with their keys, which no two sets may share."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

SplitName = Literal["train", "validation", "test"]
SPLITS: Final[tuple[SplitName, ...]] = ("train", "validation", "test")
LeakKind = Literal["template", "value", "intent", "instruction"]
"""What two sets must not share: subtask templates, resource values, intents, instructions."""
LEAK_KINDS: Final[tuple[LeakKind, ...]] = ("template", "value", "intent", "instruction")


@dataclass(frozen=True, slots=True)
class KeyTable:
    """Which task holds which keys."""

    tasks: list[str]
    keys: list[str]
    starts: array[int]
    """Where the keys of each task begin in `held`, and its length at the end."""
    held: array[int]
    """Numbers of the keys of all tasks, one task after the other, sorted within each."""

    @classmethod
    def of(cls, held: Iterable[tuple[str, Iterable[str]]]) -> Self:
        """The table of pairs of a task and its keys."""
        numbers: dict[str, int] = {}
        tasks: list[str] = []
        starts, flat = array("q", [0]), array("q")
        for task, keys in held:
            tasks.append(task)
            flat.extend(sorted({numbers.setdefault(key, len(numbers)) for key in keys}))
            starts.append(len(flat))
        return cls(tasks, list(numbers), starts, flat)

    @classmethod
    def of_pairs(
        cls, tasks: list[str], keys: list[str], holders: NDArray[np.int64], held: NDArray[np.int64]
    ) -> Self:
        """The table of pairs of the numbers of a task and a key, in any order, possibly repeated."""
        pairs = holders * max(len(keys), 1) + held
        pairs.sort()
        if len(pairs):
            pairs = pairs[np.concatenate((np.ones(1, bool), pairs[1:] != pairs[:-1]))]
        counts = np.bincount(pairs // max(len(keys), 1), minlength=len(tasks))
        starts, flat = array("q", [0]), array("q")
        starts.frombytes(np.cumsum(counts, dtype=np.int64).tobytes())
        flat.frombytes((pairs % max(len(keys), 1)).tobytes())
        return cls(tasks, keys, starts, flat)

    def content(self, task: int) -> tuple[int, ...]:
        """The keys of a task, by number."""
        return tuple(self.held[self.starts[task] : self.starts[task + 1]])

    def holders(self) -> NDArray[np.int64]:
        """The number of the task for each number in `held`."""
        starts = np.frombuffer(self.starts, np.int64)
        return np.repeat(np.arange(len(self.tasks)), starts[1:] - starts[:-1])

    def numbers(self) -> NDArray[np.int64]:
        """`held` as a NumPy array."""
        return np.frombuffer(self.held, np.int64) if self.held else np.zeros(0, np.int64)

    def only(self, tasks: Sequence[int]) -> KeyTable:
        """The table of some of the tasks, in the order given; keys keep their numbers."""
        starts, flat = array("q", [0]), array("q")
        for task in tasks:
            flat.extend(self.held[self.starts[task] : self.starts[task + 1]])
            starts.append(len(flat))
        return KeyTable([self.tasks[task] for task in tasks], self.keys, starts, flat)

    def groups(self) -> list[list[int]]:
        """Tasks that are connected through shared keys, directly or indirectly."""
        parent = array("q", range(len(self.keys)))

        def root(key: int) -> int:
            while parent[key] != key:
                parent[key] = parent[parent[key]]
                key = parent[key]
            return key

        for task in range(len(self.tasks)):
            start, end = self.starts[task], self.starts[task + 1]
            if end - start > 1:
                first = root(self.held[start])
                for position in range(start + 1, end):
                    parent[root(self.held[position])] = first
        groups: dict[int, list[int]] = {}
        for task in range(len(self.tasks)):
            start = self.starts[task]
            group = root(self.held[start]) if start < self.starts[task + 1] else -1 - task
            groups.setdefault(group, []).append(task)
        return list(groups.values())

    def use_counts(self) -> list[int]:
        """How many tasks hold each key."""
        counts: list[int] = np.bincount(self.numbers(), minlength=len(self.keys)).tolist()
        return counts
