"""Ingest and queries of the warehouse compared with JSONL and pandas and with SQLite and JSON, on the same
synthetic tasks.

    python -m benchmarks.warehouse --tasks 1000000

All figures come from one run on one machine; only their ratios are comparable. pandas reads JSONL into
memory, so its peak is measured too; above --pandas-limit tasks it gets only that many rows, as the table
says.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

import pyarrow as pa

from benchmarks.task_columns import write_task_columns
from taskloom.resources.dimensions import DIMENSIONS, LEVELS
from taskloom.warehouse.schema import TABLE_NAMED
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.pages.task_pages import TaskFilter, read_page

BATCH = 50_000
CATEGORIES = ("csv_path", "note_title", "text_in_clipboard", "png_path", "table_in_clipboard")
QUERIES = {
    "level filter": "SELECT count(*) FROM tasks WHERE dependency_level = 'hard' AND hierarchy_level = 'hard'",
    "group by five levels": (
        "SELECT dependency_level, instruction_level, knowledge_level, hierarchy_level, branch_level, count(*)"
        " FROM tasks GROUP BY ALL"
    ),
    "unnest edges": "SELECT resource_category, count(*) FROM task_edges GROUP BY ALL",
    "tasks of an application": "SELECT count(*) FROM tasks WHERE list_contains(applications, 'app3')",
    "one task by id": "SELECT instruction FROM tasks WHERE task_id = 'task-4711'",
}
LIMITS_MS = {"level filter": 50, "group by five levels": 150, "unnest edges": 500}


def synthetic(count: int, seed: int = 0, vocabulary: Sequence[str] = ()) -> Iterator[list[dict[str, object]]]:
    """Rows like composed tasks: 1 to 12 nodes, links between neighbours, an instruction of about 50 words.

    Args:
        count: number of tasks.
        seed: seed of all random choices.
        vocabulary: words of the instructions, with frequencies inversely proportional to their rank; sixteen
            equally frequent ones by default.
    """
    generator = random.Random(seed)
    cumulative_weights = list(accumulate(1 / place for place in range(1, len(vocabulary) + 1))) or None
    words = list(vocabulary) or [
        "open",
        "the",
        "report",
        "then",
        "copy",
        "table",
        "into",
        "chart",
        "and",
        "save",
        "it",
        "under",
        "quarterly",
        "notes",
        "for",
        "review",
    ]
    for start in range(0, count, BATCH):
        rows: list[dict[str, object]] = []
        for number in range(start, min(start + BATCH, count)):
            size = generator.randint(1, 12)
            nodes = [
                {
                    "instance_id": f"s{(number * 7 + place) % 500}:{place}",
                    "subtask_id": f"s{(number * 7 + place) % 500}",
                    "application": f"app{(number + place) % 12}",
                    "application_category": f"category{(number + place) % 8}",
                    "instruction": "do it",
                    "parameters": [{"name": "csv_path", "value": f"f{number % 97}.csv"}],
                    "inputs": [],
                    "outputs": [],
                    "consumed": [],
                }
                for place in range(size)
            ]
            edges = [
                {
                    "producer": nodes[place]["instance_id"],
                    "consumer": nodes[place + 1]["instance_id"],
                    "resource": {
                        "category": CATEGORIES[(number + place) % 5],
                        "kind": "file",
                        "application": "",
                        "value": f"f{number % 97}.csv",
                    },
                }
                for place in range(size - 1)
                if (number + place) % 3
            ]
            levels = {name: LEVELS[generator.randrange(3)] for name in DIMENSIONS}
            rows.append(
                {
                    "task_id": f"task-{number}",
                    "nodes": nodes,
                    "edges": edges,
                    "instruction": " ".join(generator.choices(words, cum_weights=cumulative_weights, k=50)),
                    "status": "validated",
                    "application_category_count": min(size, 8),
                    "depth": min(size, 3),
                    "width": size - len(edges),
                    "largest_layer": size - len(edges),
                    "component_count": size - len(edges),
                    "node_count": size,
                    "edge_count": len(edges),
                    **{f"{name}_level": level for name, level in levels.items()},
                }
            )
        yield rows


def milliseconds(action: Callable[[], object], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def size_of(path: Path) -> float:
    files = [path] if path.is_file() else [item for item in path.rglob("*") if item.is_file()]
    return sum(item.stat().st_size for item in files) / 1e6


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def bench_warehouse(folder: Path, prepared: list[pa.Table]) -> dict[str, float]:
    figures: dict[str, float] = {}
    with Warehouse(folder / "warehouse") as warehouse:
        start = time.perf_counter()
        write_task_columns(warehouse, prepared)
        figures["ingest s"] = time.perf_counter() - start
        figures["MB"] = size_of(folder / "warehouse")
        figures["peak RSS MB"] = peak()
        for name, sql in QUERIES.items():
            figures[f"{name} ms"] = milliseconds(lambda sql=sql: warehouse.query(sql))  # type: ignore[misc]
        chosen = TaskFilter.of({"application": "app3", "dependency": "hard"})
        figures["viewer: a page of the filtered list ms"] = milliseconds(
            lambda: read_page(warehouse, chosen, after="task-5")
        )
    return figures


def bench_sqlite(folder: Path, count: int) -> dict[str, float]:
    figures: dict[str, float] = {}
    file = folder / "tasks.sqlite"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE tasks (task_id TEXT PRIMARY KEY, content TEXT)")
    write_seconds = 0.0
    for rows in synthetic(count):
        lines = [(row["task_id"], json.dumps(row)) for row in rows]
        start = time.perf_counter()
        with connection:
            connection.executemany("INSERT INTO tasks VALUES (?, ?)", lines)
        write_seconds += time.perf_counter() - start
    figures["ingest s"] = write_seconds
    figures["MB"] = size_of(file)
    levels = DIMENSIONS
    columns = ", ".join(f"content ->> '{name}_level'" for name in levels)
    queries = {
        "level filter": (
            "SELECT count(*) FROM tasks WHERE content ->> 'dependency_level' = 'hard' AND content ->>"
            " 'hierarchy_level' = 'hard'"
        ),
        "group by five levels": f"SELECT {columns}, count(*) FROM tasks GROUP BY 1, 2, 3, 4, 5",
        "unnest edges": (
            "SELECT edge.value ->> '$.resource.category', count(*) FROM tasks,"
            " json_each(tasks.content, '$.edges') AS edge GROUP BY 1"
        ),
        "tasks of an application": (
            "SELECT count(*) FROM tasks WHERE EXISTS (SELECT 1 FROM json_each(tasks.content, '$.nodes') AS"
            " node WHERE node.value ->> 'application' = 'app3')"
        ),
        "one task by id": "SELECT content ->> 'instruction' FROM tasks WHERE task_id = 'task-4711'",
    }
    for name, sql in queries.items():
        figures[f"{name} ms"] = milliseconds(lambda sql=sql: connection.execute(sql).fetchall(), repeats=1)  # type: ignore[misc]
    connection.close()
    return figures


def bench_pandas(folder: Path, count: int) -> dict[str, float]:
    import pandas as pd

    figures: dict[str, float] = {}
    file = folder / "tasks.jsonl"
    write_seconds = 0.0
    with file.open("w") as out:
        for rows in synthetic(count):
            start = time.perf_counter()
            out.writelines(json.dumps(row) + "\n" for row in rows)
            write_seconds += time.perf_counter() - start
    start = time.perf_counter()
    frame = pd.read_json(file, lines=True)
    figures["ingest s"] = write_seconds + time.perf_counter() - start
    figures["MB"] = size_of(file)
    figures["peak RSS MB"] = peak()
    levels = [f"{name}_level" for name in DIMENSIONS]
    figures["level filter ms"] = milliseconds(
        lambda: int(((frame.dependency_level == "hard") & (frame.hierarchy_level == "hard")).sum())
    )
    figures["group by five levels ms"] = milliseconds(lambda: frame.groupby(levels).size())
    figures["unnest edges ms"] = milliseconds(
        lambda: frame.edges.explode().dropna().map(lambda edge: edge["resource"]["category"]).value_counts(),
        repeats=1,
    )
    figures["tasks of an application ms"] = milliseconds(
        lambda: int(
            frame.nodes.map(lambda nodes: any(node["application"] == "app3" for node in nodes)).sum()
        ),
        repeats=1,
    )
    figures["one task by id ms"] = milliseconds(
        lambda: frame[frame.task_id == "task-4711"].instruction.tolist()
    )
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--pandas-limit", type=int, default=200_000)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="taskloom-benchmark-"))
    try:
        schema = TABLE_NAMED["tasks"].arrow
        prepared = [pa.Table.from_pylist(rows, schema=schema) for rows in synthetic(arguments.tasks)]
        results = {"warehouse": bench_warehouse(folder, prepared)}
        prepared.clear()
        results["SQLite JSON"] = bench_sqlite(folder, arguments.tasks)
        pandas_rows = min(arguments.tasks, arguments.pandas_limit)
        results[f"JSONL + pandas ({pandas_rows:,} rows)"] = bench_pandas(folder, pandas_rows)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    rows = list(dict.fromkeys(name for figures in results.values() for name in figures))
    print(f"{arguments.tasks:,} tasks")
    print("| | " + " | ".join(results) + " | limit |")
    print("|--|" + "--|" * (len(results) + 1))
    for row in rows:
        cells = [f"{figures[row]:,.1f}" if row in figures else "" for figures in results.values()]
        print(f"| {row} | {' | '.join(cells)} | {LIMITS_MS.get(row.removesuffix(' ms'), '')} |")


if __name__ == "__main__":
    main()
