"""A million complete task records, composed and streamed to a warehouse.

Each size runs in its own process: composition makes tasks one by one, and
`benchmarks.task_columns.write_tasks` takes them from the iterator with one commit per batch, so they are
never all in memory. The processor time per task at both sizes is compared, and the peak memory of the larger
one is reported. The million takes about 20 minutes on one core.

    python -m benchmarks streamed_tasks
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from benchmarks.run import Figure
from benchmarks.synthetic_pool import synthetic_pool
from benchmarks.task_columns import write_tasks
from taskloom.resources.reading.catalog import load_capabilities
from taskloom.synthesis.composition.composition import compose
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.warehouse.store import Warehouse

PAPER = 36_076
MILLION = 1_000_000
SIZE, COMPONENTS = 9, 4
BATCH = 5_000


def figures(quick: bool = False) -> list[Figure]:
    """Cost per task compared with the paper's number, memory, and whether all tasks are different."""
    few, many = (500, 2_000) if quick else (PAPER, MILLION)
    small, large = _stream_in_process(few), _stream_in_process(many)
    ratio = (large["seconds"] / large["written"]) / (small["seconds"] / small["written"])
    memory = large["peak_bytes"] / 2**30
    return [
        Figure(
            "distinct complete tasks in the warehouse",
            large["distinct"],
            f"of {many:,}",
            "all",
            large["distinct"] == large["written"] == many,
            note=f"{large['cells']:.0f} cells; {large['stored_bytes'] / 2**20:,.0f} MiB on disk",
        ),
        Figure(
            f"cost per task, {many:,} against {few:,}",
            ratio,
            "times",
            "at most 2",
            ratio <= 2,
            "the same path: composed, recorded, written",
            f"{large['seconds'] / large['written'] * 1e3:.2f} ms of processor time against"
            f" {small['seconds'] / small['written'] * 1e3:.2f} ms",
        ),
        Figure(
            f"memory for {many:,} tasks",
            memory,
            "GiB",
            "under 2",
            memory < 2,
            note="peak of the process that composes and writes",
        ),
    ]


def stream(wanted: int, folder: Path) -> dict[str, float]:
    """Compose `wanted` tasks into a new warehouse in `folder`; returns the costs and counts."""
    nodes, intents, fixtures = synthetic_pool()
    request = CompositionRequest(
        count=wanted,
        maximum_size=SIZE,
        maximum_components=COMPONENTS,
        near_duplicate_share=1,
        subtask_share=1,
        pattern_share=1,
        maximum_readers=SIZE,
        maximum_ends=SIZE,
    )
    capabilities = load_capabilities()
    start = time.process_time()
    with Warehouse(folder) as warehouse:
        result = compose(nodes, intents, request, fixtures=fixtures, capabilities=capabilities)
        tasks = iter(result)
        while write_tasks(warehouse, islice(tasks, BATCH)):
            pass
        seconds = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        ((written, distinct),) = warehouse.query("SELECT count(*), count(DISTINCT task_id) FROM tasks").rows()
    stored = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return {
        "seconds": seconds,
        "written": float(str(written)),
        "distinct": float(str(distinct)),
        "cells": len(result.account.per_cell),
        "peak_bytes": peak,
        "stored_bytes": stored,
    }


def _stream_in_process(wanted: int) -> dict[str, float]:
    """`stream` in its own process, so that its peak memory is measured separately."""
    command = [sys.executable, "-m", "benchmarks.streamed_tasks", str(wanted)]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    costs: dict[str, float] = json.loads(process.stdout)
    return costs


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="taskloom-benchmark-") as place:
        print(json.dumps(stream(int(sys.argv[1]), Path(place) / "warehouse")))
