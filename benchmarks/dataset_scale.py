"""Named queries, search, sets without leaks and the dataset folder over very many tasks, each in a process of
its own, with time and memory.

python -m benchmarks.dataset_scale --tasks 1000000 [--warehouse FOLDER]

With a folder the tasks are kept there, and a further run measures those that are there instead of writing
them again.
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


def _word(place: int) -> str:
    """A word for a place in the order of frequency, as long as English words there are: 4.7 letters in a
    text, 2 to 8."""
    length = 1 if place < 20 else 2 if place < 150 else 3 if place < 1_500 else 4
    return "".join(_SYLLABLES[place // 100**digit % 100 if digit < 3 else 7] for digit in range(length))


_VOCABULARY = tuple(dict.fromkeys(map(_word, range(1, 20_001))))
"""20,000 different words: what all instructions of a dataset say is less, so that a search here reads more
than there."""
_SEARCHED = tuple(f"{_VOCABULARY[99 + place]} {_VOCABULARY[699 + place]}" for place in range(5))
_QUERIES = ("links", "levels", "cells", "applications", "scenarios", "capabilities")
_KNOT = SetRequest(shares={"train": 0.8, "validation": 0.1, "test": 0.1})
_SHARES = _KNOT.model_copy(update={"may_share": ("template", "value")})


def _measured(action: Callable[[], object]) -> tuple[float, float]:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start, _most_memory()


def _most_memory() -> float:
    """Most gigabytes that this process has held. `getrusage` would also count what the process that started
    it held."""
    (line,) = [
        line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")
    ]
    return int(line.split()[1]) / 1e6


def _query(place: str, name: str) -> tuple[float, float]:
    with Warehouse(place, read_only=True) as opened:
        query = named_query(name)
        return _measured(lambda: opened.query(query.sql, query.bind({})))


def _split(place: str) -> tuple[float, float]:
    with Warehouse(place, read_only=True) as opened:
        return _measured(lambda: draw_tasks(opened, Selection(unvalidated=True, where="true"), _SHARES))


def _split_knot(place: str) -> tuple[float, float]:
    """All tasks are connected: most are left out, with the reason."""
    with Warehouse(place, read_only=True) as opened:
        return _measured(lambda: draw_tasks(opened, Selection(unvalidated=True, where="true"), _KNOT))


def _search(place: str) -> tuple[float, float]:
    with Warehouse(place, read_only=True) as opened:
        opened.query("SELECT count(*) FROM tasks")
        filters = [TaskFilter.of({"text": text}) for text in _SEARCHED]
        found = [_measured(partial(count_tasks, opened, item)) for item in filters]
        return sorted(found)[len(found) // 2]


def _dataset_folder(place: str) -> tuple[float, float]:
    with Warehouse(place, read_only=True) as opened, tempfile.TemporaryDirectory() as folder:
        selection = Selection(unvalidated=True, where="true")
        return _measured(lambda: export(opened, "hugging_face", Path(folder) / "out", selection))


def _apart(action: Callable[..., tuple[float, float]], *arguments: str) -> tuple[float, float]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(action, arguments)


def measure(count: int, kept: Path | None = None) -> list[Figure]:
    """Seconds and memory of every named query over tasks, and of dividing them; in a folder that is kept, if
    one is named."""
    found: list[Figure] = []
    schema = TABLE_NAMED["tasks"].arrow
    with tempfile.TemporaryDirectory(prefix="taskloom-benchmark-") as folder:
        place = str(kept or Path(folder) / "warehouse")
        if kept is None or not kept.is_dir():
            with Warehouse(place) as opened:
                write_task_columns(
                    opened,
                    (
                        pa.Table.from_pylist(rows, schema=schema)
                        for rows in synthetic(count, vocabulary=_VOCABULARY)
                    ),
                )
        with Warehouse(place, read_only=True) as opened:
            if (stored := opened.count(Task)) != count:
                raise NotMeasuredError(f"{place} holds {stored:,} tasks, not {count:,}; name another folder.")
        for name in _QUERIES:
            seconds, gigabytes = _apart(_query, place, name)
            found.append(Figure(f"query {name}, {count:,} tasks", seconds, "s", "below 1", seconds < 1))
            found.append(Figure(f"query {name}, {count:,} tasks", gigabytes, "GB", "below 1", gigabytes < 1))
        seconds, gigabytes = _apart(_split, place)
        found.append(Figure(f"sets of {count:,} tasks", seconds, "s", "below 60", seconds < 60))
        found.append(Figure(f"sets of {count:,} tasks", gigabytes, "GB", "below 2", gigabytes < 2))
        seconds, gigabytes = _apart(_split_knot, place)
        found.append(
            Figure(f"sets of {count:,} tasks that are one knot", seconds, "s", "below 60", seconds < 60)
        )
        found.append(
            Figure(f"sets of {count:,} tasks that are one knot", gigabytes, "GB", "below 2", gigabytes < 2)
        )
        seconds, _ = _apart(_search, place)
        found.append(
            Figure(
                f"search of two words of 20,000, {count:,} tasks", seconds, "s", "below 0.3", seconds < 0.3
            )
        )
        seconds, gigabytes = _apart(_dataset_folder, place)
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
