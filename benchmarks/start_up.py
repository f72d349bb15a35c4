"""The start-up cost of a run: `python -m benchmarks start_up`.

The smallest build on the simulated platform is timed as a process from start to end, with the Prefect server
as taskloom starts it (in parallel with imports, on a prepared database) and as Prefect starts its own
temporary one (the baseline: after importing the whole server into the process). First in a new data folder,
then again in the same one. Both include the build itself, so the saved share of the start-up alone is larger
than shown.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.run import Figure

OURS = "from taskloom.cli.main import main; main()"
PREFECTS_OWN = (
    "import contextlib, taskloom.flows.running.prefect_server as server;"
    "server.prefect_server = contextlib.nullcontext;"
    "from taskloom.cli.main import main; main()"
)
PREPARE = (
    "import sys; from pathlib import Path; from taskloom.flows.running.prefect_server import prepare_prefect,"
    " prepare_database; prepare_prefect(Path(sys.argv[1]));"
    " prepare_database()"
)


def seconds(code: str, *arguments: str) -> tuple[float, float]:
    """Wall time of a Python process, and the processor time of it and its children."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    began, used = time.perf_counter(), processor_seconds()
    subprocess.run(
        [sys.executable, "-c", code, *arguments],
        check=True,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - began, processor_seconds() - used


def processor_seconds() -> float:
    """Processor time of all finished descendants of this process."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def build_seconds(code: str, data: Path, seed: int) -> tuple[float, float]:
    """Wall and processor time of the smallest build."""
    options = ["--set=platform=simulated", "--applications=simulated_notes", "--tasks=2", "--quiet"]
    small = ["--set=intents.wanted=1", "--set=replay_share=0", f"--seed={seed}", "--data", str(data)]
    return seconds(code, "build", *options, *small)


def figures(quick: bool) -> list[Figure]:
    """Medians of both ways, measured in turn."""
    first: dict[str, list[tuple[float, float]]] = {OURS: [], PREFECTS_OWN: []}
    later: dict[str, list[tuple[float, float]]] = {OURS: [], PREFECTS_OWN: []}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(1 if quick else 3):
            for code in (OURS, PREFECTS_OWN):
                data = Path(folder) / f"{turn}-{code == OURS}"
                if code == OURS:
                    seconds(PREPARE, str(data))
                first[code].append(build_seconds(code, data, 0))
                later[code].append(build_seconds(code, data, 1))
    plain = statistics.median(seconds("pass")[0] for _ in range(5))
    with_help = statistics.median(seconds(OURS, "--help")[0] for _ in range(5))

    def figure(name: str, times: dict[str, list[tuple[float, float]]]) -> Figure:
        ours, theirs = (statistics.median(item[0] for item in times[code]) for code in (OURS, PREFECTS_OWN))
        our_cpu, their_cpu = (
            statistics.median(item[1] for item in times[code]) for code in (OURS, PREFECTS_OWN)
        )
        return Figure(
            name,
            theirs / ours,
            "times faster",
            "2 or more",
            theirs / ours >= 2,
            "Prefect's own temporary server",
            f"whole process {ours:.1f} s instead of {theirs:.1f} s, of which processor time {our_cpu:.1f} s"
            f" instead of {their_cpu:.1f} s",
        )

    return [
        figure("first build in a data folder prepared by `taskloom install`", first),
        figure("later builds", later),
        Figure(
            "`taskloom --help`",
            with_help / plain,
            "times a bare Python",
            baseline="`python -c pass`",
            note=(
                f"{with_help:.2f} s instead of {plain:.2f} s; neither Prefect, a model SDK nor DuckDB is"
                " imported"
            ),
        ),
    ]
