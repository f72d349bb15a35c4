"""Kills an experiment at random moments and continues it: `python -m benchmarks.experiment_kills`.

`taskloom evaluate` on a dataset of the simulated platform is killed with SIGKILL at random moments (once some
more attempts are stored and a random time has passed, or a random time after its start) and continued until
it ends; then the next one begins, until the requested number of kills is reached. The tables of each must
equal those of an uninterrupted experiment, except for columns with times. Prints the results; exits with 1 if
anything was lost, duplicated or changed.
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

from benchmarks.build_kills import BUILD, RUN_COLUMNS, differences, finish, start
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
"""The tables, with the columns that differ because they contain times or paths."""
_IMPORTS = 1.5
"""Seconds that a start needs for imports."""
ATTEMPT_COLUMNS = RUN_COLUMNS | {
    "decision_seconds",
    "environment_seconds",
    "scored_at",
    "started_at",
    "finished_at",
}


@dataclass
class KillResults:
    """Counts of what was done, and what went wrong."""

    kills: int = 0
    experiments: int = 0
    attempts: int = 0
    kept: list[int] = field(default_factory=list)
    """Number of attempts stored at each kill."""
    wrong: list[str] = field(default_factory=list)


def evaluate(data: Path, file: Path) -> subprocess.Popen[bytes]:
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
    """All rows of the experiment's tables without columns with times; the figures without seconds."""
    with Warehouse(warehouse, read_only=True) as store:
        results = {
            table: sorted(
                (
                    {
                        name: str(value)
                        for name, value in row.items()
                        if name not in ATTEMPT_COLUMNS and name not in excluded
                    }
                    for row in store.query(f"SELECT * FROM {table}").as_dicts()
                ),
                key=str,
            )
            for table, excluded in TABLES.items()
        }
        figures = store.query(
            "SELECT unnest(standings, recursive := true) FROM experiments ORDER BY ALL"
        ).as_dicts()
    results["figures"] = [
        {name: str(value) for name, value in row.items()}
        for row in figures
        if not str(row["metric"]).startswith("seconds")
    ]
    return results


def _attempts(store: Warehouse) -> int:
    return int(str(store.query("SELECT count(*) FROM agent_runs").scalar()))


def kill_until_done(
    data: Path, file: Path, kills: int, generator: random.Random, results: KillResults
) -> Iterator[None]:
    """Continue the experiment until it ends, killing it up to `kills` times; yields after each kill."""
    while not results.wrong:
        # Opened once per start, because opening takes longer than a query.
        with Warehouse(data / "warehouse", read_only=True) as store:
            process, before = evaluate(data, file), _attempts(store)
            threshold, extra = before + generator.choice((0, 0, 1)), generator.uniform(0, 1.5)
            while results.kills < kills and process.poll() is None:
                if _attempts(store) >= threshold:
                    time.sleep(extra + (_IMPORTS if threshold == before else 0))
                    os.killpg(process.pid, signal.SIGKILL)
                    results.kills += 1
                    break
                time.sleep(0.1)
            code = finish(process)
            if code == 0:
                return
            if code != -signal.SIGKILL:
                results.wrong.append(f"the experiment ended with exit code {code}")
            results.kept.append(_attempts(store))
        yield


def measure(kills: int, seed: int, dataset: Path | None = None) -> KillResults:
    """Kill experiments until there were `kills` kills. `dataset` is a data folder with tasks to attempt."""
    results, generator = KillResults(), random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        reference, before = Path(folder) / "reference", Path(folder) / "before"
        file = Path(folder) / "experiment.yaml"
        file.write_text(json.dumps(EXPERIMENT), encoding="utf-8")
        if dataset is not None:
            shutil.copytree(dataset, reference)
        elif finish(start(reference, BUILD)) != 0:
            results.wrong.append("the build failed")
            return results
        shutil.copytree(reference, before)
        if finish(evaluate(reference, file)) != 0:
            results.wrong.append("the uninterrupted experiment failed")
            return results
        expected = content(reference / "warehouse")
        results.attempts = len(expected["agent_runs"])
        while results.kills < kills and not results.wrong:
            data = Path(folder) / f"experiment-{results.experiments}"
            shutil.copytree(before, data)
            for _ in kill_until_done(data, file, kills, generator, results):
                print(f"{results.kills} kills, {results.kept[-1]} attempts", file=sys.stderr, flush=True)
            results.experiments += 1
            if not results.wrong:
                results.wrong += differences(content(data / "warehouse"), expected)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, help="data folder whose tasks are attempted; else one is built")
    arguments = parser.parse_args()
    results = measure(arguments.kills, arguments.seed, arguments.data)
    print(f"{results.kills} kills of {results.experiments} experiments of {results.attempts} attempts each")
    print(f"attempts that were stored at the kills: {', '.join(map(str, results.kept))}")
    print("differences: " + ("; ".join(results.wrong) or "none"))
    sys.exit(1 if results.wrong else 0)


if __name__ == "__main__":
    main()
