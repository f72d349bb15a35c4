"""Kills whole builds at random moments and restarts them: `python -m benchmarks.build_kills`.

`taskloom build` on the simulated platform is killed with SIGKILL at random moments (after a random number of
its model calls, or a random time after the last) and restarted until it ends; then the next build begins,
until the requested number of kills is reached. Afterwards every table of its warehouse must equal an
uninterrupted build's, and no finished call may have been made again. With `--processes 2`, two builds with
separate warehouses share one ledger, and one of them is killed. Prints the results; exits with 1 if anything
was lost, duplicated or paid for again.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from taskloom.warehouse.store import Warehouse

BUILD = (
    "--set=platform=simulated",
    "--set=intents.wanted=4",
    "--set=replay_share=0.2",
    "--tasks=12",
    "--quiet",
)
TABLES = (
    "subtasks",
    "trajectories",
    "evaluation_functions",
    "verifications",
    "intents",
    "tasks",
    "validations",
    "replays",
    "rejections",
    "model_calls",
    "funnel",
)
RUN_COLUMNS = frozenset({"run_id", "call_id", "called_at", "latency_seconds", "rejection_id", "seconds"})
"""Columns that differ between otherwise equal runs."""


def start(data: Path, options: Sequence[str], warehouse: Path | None = None) -> subprocess.Popen[bytes]:
    environment = {name: value for name, value in os.environ.items() if name != "PREFECT_API_URL"}
    if warehouse is not None:
        environment["TASKLOOM_WAREHOUSE"] = str(warehouse)
    command = [sys.executable, "-m", "taskloom.cli.main", "build", "--data", str(data), *options]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment, start_new_session=True
    )


def finish(process: subprocess.Popen[bytes]) -> int:
    """Wait for a build and return its exit code; prints its errors unless it succeeded or was killed."""
    _, errors = process.communicate()
    if process.returncode not in (0, -signal.SIGKILL):
        print(errors.decode(errors="replace"), file=sys.stderr)
    return process.returncode


def finished_calls(data: Path) -> dict[str, str]:
    """The finished calls in the ledger, with the time when each ended."""
    path = data / "ledger.sqlite"
    if not path.exists():
        return {}
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60)
    try:
        return dict(connection.execute("SELECT key, finished_at FROM calls WHERE reply IS NOT NULL"))
    except sqlite3.OperationalError:
        return {}
    finally:
        connection.close()


def content(warehouse: Path) -> dict[str, list[dict[str, str]]]:
    """All rows of the tables that must be equal, without columns that depend on the run."""
    with Warehouse(warehouse, read_only=True) as store:
        return {
            table: sorted(
                (
                    {name: str(value) for name, value in row.items() if name not in RUN_COLUMNS}
                    for row in store.query(f"SELECT * FROM {table}").as_dicts()
                ),
                key=str,
            )
            for table in TABLES
        }


def differences(
    actual: dict[str, list[dict[str, str]]], expected: dict[str, list[dict[str, str]]]
) -> list[str]:
    """Messages about the tables that differ, each with the first differing row."""
    messages = []
    for table, rows in expected.items():
        if actual[table] != rows:
            differing = [row for row in actual[table] if row not in rows]
            differing += [row for row in rows if row not in actual[table]]
            messages.append(
                f"{table}: {len(actual[table])} rows instead of {len(rows)}; such as {differing[:1]}"
            )
    return messages


@dataclass
class KillResults:
    """Counts of what was done, and what went wrong."""

    kills: int = 0
    builds: int = 0
    calls_again: int = 0
    calls_killed_with: list[int] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def kill_until_done(
    data: Path,
    warehouses: Sequence[Path],
    options: Sequence[str],
    total_calls: int,
    kills: int,
    generator: random.Random,
    results: KillResults,
) -> None:
    """Build into all `warehouses` with the ledger of `data`, killing the first build up to `kills` times in
    total."""
    unfinished = list(warehouses)
    while unfinished and not results.wrong:
        before = finished_calls(data)
        builds = [start(data, options, warehouse) for warehouse in unfinished]
        moment = len(before) + generator.randint(0, max(1, total_calls - len(before)))
        extra = generator.uniform(0, 2) if moment >= total_calls else 0.0
        while results.kills < kills and builds[0].poll() is None:
            if len(finished_calls(data)) >= moment:
                time.sleep(extra)
                results.calls_killed_with.append(len(finished_calls(data)))
                os.killpg(builds[0].pid, signal.SIGKILL)
                results.kills += 1
                break
            time.sleep(0.02)
        at_kill = finished_calls(data)
        codes = [finish(build) for build in builds]
        now = finished_calls(data)
        results.calls_again += sum(now.get(key) != ended for key, ended in at_kill.items())
        results.wrong += [f"a build ended with exit code {code}" for code in codes if code not in (0, -9)]
        unfinished = [place for place, code in zip(unfinished, codes, strict=True) if code != 0]


def measure(kills: int, processes: int, seed: int, options: Sequence[str] = BUILD) -> KillResults:
    """Kill builds until there were `kills` kills."""
    results, generator = KillResults(), random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        reference = Path(folder) / "reference"
        if finish(start(reference, options)) != 0:
            results.wrong.append("the uninterrupted build failed")
            return results
        expected, total_calls = content(reference / "warehouse"), len(finished_calls(reference))
        while results.kills < kills and not results.wrong:
            data = Path(folder) / f"build-{results.builds}"
            warehouses = [data / f"warehouse-{number}" for number in range(processes)]
            kill_until_done(data, warehouses, options, total_calls, kills, generator, results)
            results.builds += 1
            if len(finished_calls(data)) != total_calls:
                results.wrong.append(f"{len(finished_calls(data))} calls instead of {total_calls}")
            for warehouse in warehouses:
                actual = content(warehouse)
                if processes > 1:
                    # Only the process that paid for a call has it in its table of calls.
                    actual["model_calls"] = expected["model_calls"]
                results.wrong += differences(actual, expected)
            print(f"{results.kills} kills, {results.builds} builds", file=sys.stderr, flush=True)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    results = measure(arguments.kills, arguments.processes, arguments.seed)
    print(f"{results.kills} kills over {results.builds} builds of {arguments.processes} processes each")
    print(f"finished calls at the kills: {', '.join(map(str, results.calls_killed_with))}")
    print(f"finished calls made again: {results.calls_again}")
    print("differences: " + ("; ".join(results.wrong) or "none"))
    sys.exit(1 if results.wrong or results.calls_again else 0)


if __name__ == "__main__":
    main()
