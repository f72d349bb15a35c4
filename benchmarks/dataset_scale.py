"""Time and memory of named queries, search, sets without leaks and the dataset folder over very many tasks,
each in its own process.

python -m benchmarks.dataset_scale --tasks 1000000 [--warehouse FOLDER]

With a folder, the tasks are stored there, and later runs measure them instead of writing them again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa

from benchmarks.run import Figure, NotMeasuredError
from benchmarks.task_columns import write_task_columns
from benchmarks.warehouse import synthetic
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.exporting.exporting import export
from taskloom.warehouse.queries import named_query
from taskloom.warehouse.schema import TABLE_NAMED
from taskloom.warehouse.sets.drawing import draw_tasks
from taskloom.warehouse.sets.selection import Selection, SetRequest
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.pages.task_pages import TaskFilter, count_tasks

_SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnpqrstvwxz" for vowel in "aeiou"]


def _word(rank: int) -> str:
    """A word for a rank of frequency, with the length of English words of that rank: 2 to 8 letters, 4.7 on
    average."""
    length = 1 if rank < 20 else 2 if rank < 150 else 3 if rank < 1_500 else 4
    return "".join(_SYLLABLES[rank // 100**digit % 100 if digit < 3 else 7] for digit in range(length))


_VOCABULARY = tuple(dict.fromkeys(map(_word, range(1, 20_001))))
"""20,000 different words, more than the instructions of a real dataset have, so that a search here reads
more."""
_SEARCHED = tuple(f"{_VOCABULARY[99 + number]} {_VOCABULARY[699 + number]}" for number in range(5))
_QUERIES = ("links", "levels", "cells", "applications", "scenarios", "capabilities")
_NO_SHARING = SetRequest(shares={"train": 0.8, "validation": 0.1, "test": 0.1})
_SHARING = _NO_SHARING.model_copy(update={"may_share": ("template", "value")})


def _measure(action: Callable[[], object]) -> tuple[float, float]:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start, _peak_memory()


def _peak_memory() -> float:
    """Peak memory of this process in gigabytes. `getrusage` would include that of its parent process."""
    (line,) = [
        line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")
    ]
    return int(line.split()[1]) / 1e6


def _query(location: str, name: str) -> tuple[float, float]:
    with Warehouse(location, read_only=True) as opened:
        query = named_query(name)
        return _measure(lambda: opened.query(query.sql, query.bind({})))


def _split(location: str) -> tuple[float, float]:
    with Warehouse(location, read_only=True) as opened:
        return _measure(lambda: draw_tasks(opened, Selection(unvalidated=True, where="true"), _SHARING))


def _split_without_sharing(location: str) -> tuple[float, float]:
    """Without sharing, all tasks are connected and most are rejected with a reason."""
    with Warehouse(location, read_only=True) as opened:
        return _measure(lambda: draw_tasks(opened, Selection(unvalidated=True, where="true"), _NO_SHARING))


def _search(location: str) -> tuple[float, float]:
    with Warehouse(location, read_only=True) as opened:
        opened.query("SELECT count(*) FROM tasks")
        filters = [TaskFilter.of({"text": text}) for text in _SEARCHED]
        measurements = [_measure(partial(count_tasks, opened, item)) for item in filters]
        return sorted(measurements)[len(measurements) // 2]


def _dataset_folder(location: str) -> tuple[float, float]:
    with Warehouse(location, read_only=True) as opened, tempfile.TemporaryDirectory() as folder:
        selection = Selection(unvalidated=True, where="true")
        return _measure(lambda: export(opened, "hugging_face", Path(folder) / "out", selection))


def _in_own_process(action: Callable[..., tuple[float, float]], *arguments: str) -> tuple[float, float]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(action, arguments)


def measure(count: int, folder: Path | None = None) -> list[Figure]:
    """Seconds and memory of every named query over tasks, and of dividing them into sets; the warehouse is
    kept in `folder`, if given."""
    found: list[Figure] = []
    schema = TABLE_NAMED["tasks"].arrow
    with tempfile.TemporaryDirectory(prefix="taskloom-benchmark-") as temporary:
        location = str(folder or Path(temporary) / "warehouse")
        if folder is None or not folder.is_dir():
            with Warehouse(location) as opened:
                write_task_columns(
                    opened,
                    (
                        pa.Table.from_pylist(rows, schema=schema)
                        for rows in synthetic(count, vocabulary=_VOCABULARY)
                    ),
                )
        with Warehouse(location, read_only=True) as opened:
            if (stored := opened.count(Task)) != count:
                raise NotMeasuredError(
                    f"{location} holds {stored:,} tasks, not {count:,}; name another folder."
                )
        for name in _QUERIES:
            seconds, gigabytes = _in_own_process(_query, location, name)
            found.append(Figure(f"query {name}, {count:,} tasks", seconds, "s", "below 1", seconds < 1))
            found.append(Figure(f"query {name}, {count:,} tasks", gigabytes, "GB", "below 1", gigabytes < 1))
        seconds, gigabytes = _in_own_process(_split, location)
        found.append(Figure(f"sets of {count:,} tasks", seconds, "s", "below 60", seconds < 60))
        found.append(Figure(f"sets of {count:,} tasks", gigabytes, "GB", "below 2", gigabytes < 2))
        seconds, gigabytes = _in_own_process(_split_without_sharing, location)
        found.append(
            Figure(f"sets of {count:,} tasks that are one knot", seconds, "s", "below 60", seconds < 60)
        )
        found.append(
            Figure(f"sets of {count:,} tasks that are one knot", gigabytes, "GB", "below 2", gigabytes < 2)
        )
        seconds, _ = _in_own_process(_search, location)
        found.append(
            Figure(
                f"search of two words of 20,000, {count:,} tasks", seconds, "s", "below 0.3", seconds < 0.3
            )
        )
        seconds, gigabytes = _in_own_process(_dataset_folder, location)
        found.append(Figure(f"dataset folder of {count:,} tasks", seconds, "s", "", None))
        found.append(Figure(f"dataset folder of {count:,} tasks", gigabytes, "GB", "below 2", gigabytes < 2))
    return found


def figures(quick: bool = False) -> list[Figure]:
    """The figures at a million tasks; at twenty thousand when `quick`."""
    return measure(20_000 if quick else 1_000_000)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--warehouse", type=Path)
    arguments = parser.parse_args()
    for figure in measure(arguments.tasks, arguments.warehouse):
        print(f"{figure.name}: {figure.value:.2f} {figure.unit} (goal: {figure.goal})")
