"""Kills an experiment at random moments and goes on with it: `python -m benchmarks.experiment_kills`.

`taskloom evaluate` on a dataset of the simulated platform is killed with SIGKILL at random moments (once some
more attempts are stored and a random time has passed, or a random time after its start) and continued until
it ends; then the next one begins, until there were as many kills as asked for. The tables of each must equal
those of an experiment that nobody interrupted, but for columns that hold times. Prints what was found; exits
with 1 when anything was lost, doubled or changed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.build_kills import BUILD, OF_THE_RUN, differences, finish, start
from taskloom.warehouse.store import Warehouse

EXPERIMENT = {
    "name": "killed",
    "agents": [
        "recorded",
        "random",
        "first_control",
        {"agent": "recorded", "name": "forgets", "settings": {"fault": "forgets_branch"}},
        {"agent": "recorded", "name": "crashes", "settings": {"fault": "crashes"}},
    ],
    "tasks": {"size": 6},
    "repeats": 3,
    "quiet_seconds": 0,
}
TABLES = {
    "agent_runs": (),
    "agent_steps": (),
    "agent_scores": (),
    "trajectories": (),
    "experiments": ("standings", "folder"),
}
"""The tables, and columns that differ because times or places stand in them."""
_IMPORTS = 1.5
"""Seconds before which a start does nothing."""
OF_THE_ATTEMPT = OF_THE_RUN | {
    "decision_seconds",
    "environment_seconds",
    "scored_at",
    "started_at",
    "finished_at",
}


@dataclass
class Found:
    """What was done, and what went wrong."""

    kills: int = 0
    experiments: int = 0
    attempts: int = 0
    kept: list[int] = field(default_factory=list)
    """Attempts that were stored at each kill."""
    wrong: list[str] = field(default_factory=list)


def evaluate(data: Path, file: Path) -> subprocess.Popen[bytes]:
    """Start the experiment, or go on with it."""
    environment = {name: value for name, value in os.environ.items() if name != "PREFECT_API_URL"}
    command = [sys.executable, "-m", "taskloom.cli.main", "evaluate", str(file), "--data", str(data)]
    return subprocess.Popen(
        [*command, "--set=platform=simulated", "--quiet"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )


def content(warehouse: Path) -> dict[str, list[dict[str, str]]]:
    """All rows of the experiment's tables without what holds times; the figures without seconds."""
    with Warehouse(warehouse, read_only=True) as store:
        found = {
            table: sorted(
                (
                    {
                        name: str(value)
                        for name, value in row.items()
                        if name not in OF_THE_ATTEMPT and name not in left_out
                    }
                    for row in store.query(f"SELECT * FROM {table}").as_dicts()
                ),
                key=str,
            )
            for table, left_out in TABLES.items()
        }
        figures = store.query(
            "SELECT unnest(standings, recursive := true) FROM experiments ORDER BY ALL"
        ).as_dicts()
    found["figures"] = [
        {name: str(value) for name, value in row.items()}
        for row in figures
        if not str(row["metric"]).startswith("seconds")
    ]
    return found


def _attempts(store: Warehouse) -> int:
    return int(str(store.query("SELECT count(*) FROM agent_runs").scalar()))


def kill_until_done(
    data: Path, file: Path, kills: int, source: random.Random, found: Found
) -> Iterator[None]:
    """Go on with the experiment until it ends, killing it up to `kills` times; yields after each kill."""
    while not found.wrong:
        # Opened once for all looks of one start: to open takes longer than to ask.
        with Warehouse(data / "warehouse", read_only=True) as store:
            process, before = evaluate(data, file), _attempts(store)
            enough, extra = before + source.choice((0, 0, 1)), source.uniform(0, 1.5)
            while found.kills < kills and process.poll() is None:
                if _attempts(store) >= enough:
                    time.sleep(extra + (_IMPORTS if enough == before else 0))
                    os.killpg(process.pid, signal.SIGKILL)
                    found.kills += 1
                    break
                time.sleep(0.1)
            code = finish(process)
            if code == 0:
                return
            if code != -signal.SIGKILL:
                found.wrong.append(f"the experiment ended with exit code {code}")
            found.kept.append(_attempts(store))
        yield


def measure(kills: int, seed: int, dataset: Path | None = None) -> Found:
    """Kill that often; returns what was found. `dataset` is a data folder whose tasks are attempted."""
    found, source = Found(), random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        whole, before = Path(folder) / "whole", Path(folder) / "before"
        file = Path(folder) / "experiment.yaml"
        file.write_text(json.dumps(EXPERIMENT), encoding="utf-8")
        if dataset is not None:
            shutil.copytree(dataset, whole)
        elif finish(start(whole, BUILD)) != 0:
            found.wrong.append("the build failed")
            return found
        shutil.copytree(whole, before)
        if finish(evaluate(whole, file)) != 0:
            found.wrong.append("the experiment that nobody interrupted failed")
            return found
        wanted = content(whole / "warehouse")
        found.attempts = len(wanted["agent_runs"])
        while found.kills < kills and not found.wrong:
            data = Path(folder) / f"experiment-{found.experiments}"
            shutil.copytree(before, data)
            for _ in kill_until_done(data, file, kills, source, found):
                print(f"{found.kills} kills, {found.kept[-1]} attempts", file=sys.stderr, flush=True)
            found.experiments += 1
            if not found.wrong:
                found.wrong += differences(content(data / "warehouse"), wanted)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, help="data folder whose tasks are attempted; else one is built")
    asked = parser.parse_args()
    found = measure(asked.kills, asked.seed, asked.data)
    print(f"{found.kills} kills of {found.experiments} experiments of {found.attempts} attempts each")
    print(f"attempts that were stored at the kills: {', '.join(map(str, found.kept))}")
    print("differences: " + ("; ".join(found.wrong) or "none"))
    sys.exit(1 if found.wrong else 0)


if __name__ == "__main__":
    main()
