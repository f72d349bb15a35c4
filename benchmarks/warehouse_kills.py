"""Kills writers of one warehouse at random moments and counts what was lost, doubled or torn.

    python -m benchmarks.warehouse_kills --kills 120
    python -m benchmarks.warehouse_kills --kills 20 --warehouse 'postgresql://user@host/db?data=s3://bucket/prefix'

Writers commit batches of two tables in one transaction, note each batch as done only after its commit, and
sometimes publish a version. A reader takes counts all the while. It proves safety against the death of
processes, not of power.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from taskloom.taskgraph.records.task import Intent, Validation
from taskloom.warehouse.errors import VersionError, WarehouseError
from taskloom.warehouse.store import Warehouse

ROWS = 50


def work(folder: Path, place: str, writer: int, seed: int) -> None:
    """Commit batches until killed; a restarted writer goes on after the last batch it finds."""
    draw = random.Random(seed)
    done = folder / f"done-{writer}"
    with Warehouse(place) as warehouse:
        number = (
            int(
                str(
                    warehouse.query(
                        "SELECT coalesce(max(split_part(intent_id, '-', 2)::INTEGER), -1) FROM intents WHERE"
                        " starts_with(intent_id, $name)",
                        {"name": f"{writer}-"},
                    ).scalar()
                )
            )
            + 1
        )
        while True:
            ids = [f"{writer}-{number}-{row}" for row in range(ROWS)]
            warehouse.write(
                [
                    *(Intent(intent_id=name, text=f"batch {number}", subtask_ids=("a", "b")) for name in ids),
                    *(
                        Validation(validation_id=name, task_id=name, round=1, instruction="x", accepted=True)
                        for name in ids
                    ),
                ]
            )
            with done.open("a") as out:
                out.write(f"{number}\n")
            number += 1
            if draw.random() < 0.03:
                try:
                    warehouse.publish(f"{writer}-{number}-{seed}")
                except VersionError:
                    continue


def run(
    folder: Path,
    kills: int,
    writers: int = 4,
    seed: int = 0,
    mean_life: float = 1.0,
    place: str = "",
) -> dict[str, object]:
    """Kill `kills` times over `writers` processes, then examine; the findings.

    `folder` keeps the writers' notes, and the warehouse too when `place` does not name another.
    """
    draw = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    place = place or str(folder / "warehouse")
    Warehouse(place).close()

    def start(writer: int) -> subprocess.Popen[bytes]:
        command = [
            sys.executable,
            "-m",
            "benchmarks.warehouse_kills",
            "--worker",
            str(writer),
            "--folder",
            str(folder),
            "--warehouse",
            place,
        ]
        return subprocess.Popen([*command, "--seed", str(draw.randrange(10**6))])

    processes = [start(writer) for writer in range(writers)]
    torn_reads = reads = 0
    try:
        with Warehouse(place, read_only=True) as reader:
            for _ in range(kills):
                victim = draw.randrange(writers)
                if draw.random() < 0.8:
                    _wait_for_work(folder / f"done-{victim}")
                time.sleep(draw.expovariate(1 / mean_life) / writers)
                processes[victim].send_signal(signal.SIGKILL)
                processes[victim].wait()
                processes[victim] = start(victim)
                seen = reader.query(
                    "SELECT (SELECT count(*) FROM intents) AS intents, (SELECT count(*) FROM validations) AS"
                    " validations"
                ).as_dicts()[0]
                reads += 1
                torn_reads += seen["intents"] != seen["validations"]
            time.sleep(mean_life)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return {"kills": kills, "reads": reads, "torn_reads": torn_reads, **examine(folder, place, writers)}


def _wait_for_work(done: Path, limit: float = 30.0) -> None:
    """Wait until a writer commits something, so that most kills hit one at work and not one that starts."""
    before = done.stat().st_size if done.exists() else 0
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline and (done.stat().st_size if done.exists() else 0) == before:
        time.sleep(0.01)


def examine(folder: Path, place: str, writers: int) -> dict[str, object]:
    """Compare what writers were told is stored with what is."""
    noted = {
        f"{writer}-{line}"
        for writer in range(writers)
        if (folder / f"done-{writer}").exists()
        for line in (folder / f"done-{writer}").read_text().split()
    }
    with Warehouse(place) as warehouse:
        stored: dict[str, dict[str, int]] = {}
        doubled = 0
        for table, key in (("intents", "intent_id"), ("validations", "validation_id")):
            rows = warehouse.query(
                f"SELECT regexp_extract({key}, '^[0-9]+-[0-9]+') AS batch, count(*) AS rows,"
                f" count(DISTINCT {key}) AS ids FROM {table} GROUP BY batch"
            ).as_dicts()
            stored[table] = {str(row["batch"]): int(str(row["ids"])) for row in rows}
            doubled += sum(row["rows"] != row["ids"] for row in rows)
        versions = warehouse.versions()
    torn_versions = 0
    for version in versions:
        with Warehouse(place, version=version.name) as old:
            whole = old.query("SELECT count(*) FROM intents").scalar() == version.counts["intents"]
        torn_versions += not whole or version.counts["intents"] != version.counts["validations"]
    batches = stored["intents"]
    return {
        "batches": len(batches),
        "noted": len(noted),
        "lost": len(noted - batches.keys()),
        "doubled": doubled,
        "torn": sum(rows != ROWS for found in stored.values() for rows in found.values()),
        "in_one_table_only": len(stored["intents"].keys() ^ stored["validations"].keys()),
        "versions": len(versions),
        "torn_versions": torn_versions,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=120)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--worker", type=int)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--warehouse", default="")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.worker is not None:
        try:
            work(arguments.folder, arguments.warehouse, arguments.worker, arguments.seed)
        except WarehouseError as error:
            print(f"writer {arguments.worker}: {error}", file=sys.stderr)
        return
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="taskloom-kills-"))
    try:
        found = run(folder, arguments.kills, arguments.writers, arguments.seed, place=arguments.warehouse)
        print(json.dumps(found, indent=2))
    finally:
        if arguments.folder is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
