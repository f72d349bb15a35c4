"""Kills whole builds at random moments and starts them again: `python -m benchmarks.build_kills`.

`taskloom build` on the simulated platform is killed with SIGKILL at random moments (after a random number of
its model calls, or a random time after the last) and started again until it ends; then the next build begins,
until there were as many kills as asked for. Afterwards every table of its warehouse must equal an
uninterrupted build's, and no finished call may have been made again. With `--processes 2` two builds with
warehouses of their own share one ledger, and one of them is killed. Prints what was found; exits with 1 when
anything was lost, doubled or paid for again.
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
OF_THE_RUN = frozenset({"run_id", "call_id", "called_at", "latency_seconds", "rejection_id", "seconds"})
"""Columns that differ from run to run although nothing else does."""


def start(data: Path, options: Sequence[str], warehouse: Path | None = None) -> subprocess.Popen[bytes]:
    """Start a build."""
    environment = {name: value for name, value in os.environ.items() if name != "PREFECT_API_URL"}
    if warehouse is not None:
        environment["TASKLOOM_WAREHOUSE"] = str(warehouse)
    command = [sys.executable, "-m", "taskloom.cli.main", "build", "--data", str(data), *options]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment, start_new_session=True
    )


def finish(process: subprocess.Popen[bytes]) -> int:
    """Wait for a build; its exit code, with its errors shown when that is not zero."""
    _, errors = process.communicate()
    if process.returncode not in (0, -signal.SIGKILL):
        print(errors.decode(errors="replace"), file=sys.stderr)
    return process.returncode


def finished_calls(data: Path) -> dict[str, str]:
    """Finished calls in the ledger, and when each ended."""
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
    """All rows of the tables that must be equal, without what only says which run made them."""
    with Warehouse(warehouse, read_only=True) as store:
        return {
            table: sorted(
                (
                    {name: str(value) for name, value in row.items() if name not in OF_THE_RUN}
                    for row in store.query(f"SELECT * FROM {table}").as_dicts()
                ),
                key=str,
            )
            for table in TABLES
        }


def differences(found: dict[str, list[dict[str, str]]], wanted: dict[str, list[dict[str, str]]]) -> list[str]:
    """The tables that differ, with the first row that does."""
    said = []
    for table, rows in wanted.items():
        if found[table] != rows:
            odd = [row for row in found[table] if row not in rows] + [
                row for row in rows if row not in found[table]
            ]
            said.append(f"{table}: {len(found[table])} rows instead of {len(rows)}; such as {odd[:1]}")
    return said


@dataclass
class Found:
    """What went wrong, and how often what was done."""

    kills: int = 0
    builds: int = 0
    calls_again: int = 0
    calls_killed_with: list[int] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def kill_until_done(
    data: Path,
    warehouses: Sequence[Path],
    options: Sequence[str],
    whole: int,
    kills: int,
    source: random.Random,
    found: Found,
) -> None:
    """Build into all `warehouses` with the ledger of `data`, killing the first build up to `kills` times in
    all."""
    unfinished = list(warehouses)
    while unfinished and not found.wrong:
        before = finished_calls(data)
        builds = [start(data, options, warehouse) for warehouse in unfinished]
        moment = len(before) + source.randint(0, max(1, whole - len(before)))
        extra = source.uniform(0, 2) if moment >= whole else 0.0
        while found.kills < kills and builds[0].poll() is None:
            if len(finished_calls(data)) >= moment:
                time.sleep(extra)
                found.calls_killed_with.append(len(finished_calls(data)))
                os.killpg(builds[0].pid, signal.SIGKILL)
                found.kills += 1
                break
            time.sleep(0.02)
        kept = finished_calls(data)
        codes = [finish(build) for build in builds]
        now = finished_calls(data)
        found.calls_again += sum(now.get(key) != ended for key, ended in kept.items())
        found.wrong += [f"a build ended with exit code {code}" for code in codes if code not in (0, -9)]
        unfinished = [place for place, code in zip(unfinished, codes, strict=True) if code != 0]


def measure(kills: int, processes: int, seed: int, options: Sequence[str] = BUILD) -> Found:
    """Kill that often; returns what was found."""
    found, source = Found(), random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        reference = Path(folder) / "reference"
        if finish(start(reference, options)) != 0:
            found.wrong.append("the uninterrupted build failed")
            return found
        wanted, whole = content(reference / "warehouse"), len(finished_calls(reference))
        while found.kills < kills and not found.wrong:
            data = Path(folder) / f"build-{found.builds}"
            warehouses = [data / f"warehouse-{number}" for number in range(processes)]
            kill_until_done(data, warehouses, options, whole, kills, source, found)
            found.builds += 1
            if len(finished_calls(data)) != whole:
                found.wrong.append(f"{len(finished_calls(data))} calls instead of {whole}")
            for warehouse in warehouses:
                got = content(warehouse)
                if processes > 1:
                    # Whoever paid for a call has it in its own table of calls.
                    got["model_calls"] = wanted["model_calls"]
                found.wrong += differences(got, wanted)
            print(f"{found.kills} kills, {found.builds} builds", file=sys.stderr, flush=True)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    found = measure(arguments.kills, arguments.processes, arguments.seed)
    print(f"{found.kills} kills over {found.builds} builds of {arguments.processes} processes each")
    print(f"finished calls at the kills: {', '.join(map(str, found.calls_killed_with))}")
    print(f"finished calls made again: {found.calls_again}")
    print("differences: " + ("; ".join(found.wrong) or "none"))
    sys.exit(1 if found.wrong or found.calls_again else 0)


if __name__ == "__main__":
    main()
