"""What a dataset card says of its tasks, counted while their columns go by: nothing holds all tasks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from taskloom.resources.dimensions import TABLE


@dataclass(slots=True)
class Spread:
    """Least, most and mean of a number."""

    least: int = 0
    most: int = 0
    total: int = 0
    count: int = 0
    """How many numbers."""

    def add(self, numbers: pa.ChunkedArray) -> None:
        """Count further numbers."""
        bounds = pc.min_max(numbers).as_py()
        if bounds["min"] is None:
            return
        self.least = min(self.least, bounds["min"]) if self.count else bounds["min"]
        self.most = max(self.most, bounds["max"])
        self.total += pc.sum(numbers).as_py()
        self.count += len(numbers)

    @property
    def mean(self) -> float:
        """The mean; 0 for no numbers."""
        return self.total / self.count if self.count else 0.0


@dataclass(slots=True)
class DatasetCounts:
    """Counts of the exported tasks."""

    tasks: Counter[str] = field(default_factory=Counter)
    simulated: int = 0
    """Tasks on simulated applications."""
    sizes: Spread = field(default_factory=Spread)
    """Subtasks per task."""
    words: Spread = field(default_factory=Spread)
    """Words per instruction."""
    levels: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Tasks by set, dimension and level."""
    applications: Counter[str] = field(default_factory=Counter)
    scenarios: Counter[str] = field(default_factory=Counter)
    subtasks: Counter[str] = field(default_factory=Counter)
    """Nodes by subtask template."""

    def add(self, split: str, columns: pa.Table) -> None:
        """Count tasks of a set, given as columns of the table `tasks`."""
        self.tasks[split] += columns.num_rows
        self.simulated += pc.sum(columns["simulated"]).as_py() or 0
        self.sizes.add(columns["node_count"])
        texts = pc.utf8_split_whitespace(pc.utf8_trim_whitespace(pc.fill_null(columns["instruction"], "")))
        self.words.add(pc.list_value_length(texts))
        for row in TABLE:
            for name, count in _values(columns[row.level_column]):
                self.levels[split, row.name, name] += count
        self.applications.update(dict(_values(pc.list_flatten(columns["applications"]))))
        self.scenarios.update(dict(_values(columns["scenario"])))
        self.subtasks.update(dict(_values(pc.struct_field(pc.list_flatten(columns["nodes"]), "subtask_id"))))

    def of_level(self, dimension: str, level: str, split: str = "") -> int:
        """Tasks of a level, in one set or in all."""
        names = [split] if split else list(self.tasks)
        return sum(self.levels[name, dimension, level] for name in names)


def _values(column: pa.ChunkedArray) -> list[tuple[str, int]]:
    return [
        (row["values"], row["counts"])
        for row in pc.value_counts(column).to_pylist()
        if row["values"] is not None
    ]
