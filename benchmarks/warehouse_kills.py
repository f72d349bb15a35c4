"""Kills writers of one warehouse at random moments and counts what was lost, duplicated or torn.

    python -m benchmarks.warehouse_kills --kills 120
    python -m benchmarks.warehouse_kills --kills 20 --warehouse 'postgresql://user@host/db?data=s3://bucket/prefix'

Writers commit batches of two tables in one transaction, note each batch only after its commit, and sometimes
publish a version. A reader counts rows all the time. This proves safety against killed processes, not against
power failure.
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


def work(folder: Path, location: str, writer: int, seed: int) -> None:
    """Commit batches until killed; a restarted writer continues after its last stored batch."""
    generator = random.Random(seed)
    notes = folder / f"notes-{writer}"
    with Warehouse(location) as warehouse:
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
            with notes.open("a") as out:
                out.write(f"{number}\n")
            number += 1
            if generator.random() < 0.03:
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
    location: str = "",
) -> dict[str, object]:
    """Kill `kills` times over `writers` processes, then examine the warehouse; returns the findings.

    `folder` contains the writers' notes, and the warehouse too if `location` does not name another.
    """
    generator = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    location = location or str(folder / "warehouse")
    Warehouse(location).close()

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
            location,
        ]
        return subprocess.Popen([*command, "--seed", str(generator.randrange(10**6))])

    processes = [start(writer) for writer in range(writers)]
    torn_reads = reads = 0
    try:
        with Warehouse(location, read_only=True) as reader:
            for _ in range(kills):
                victim = generator.randrange(writers)
                if generator.random() < 0.8:
                    _wait_for_work(folder / f"notes-{victim}")
                time.sleep(generator.expovariate(1 / mean_life) / writers)
                processes[victim].send_signal(signal.SIGKILL)
                processes[victim].wait()
                processes[victim] = start(victim)
                counts = reader.query(
                    "SELECT (SELECT count(*) FROM intents) AS intents, (SELECT count(*) FROM validations) AS"
                    " validations"
                ).as_dicts()[0]
                reads += 1
                torn_reads += counts["intents"] != counts["validations"]
            time.sleep(mean_life)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return {"kills": kills, "reads": reads, "torn_reads": torn_reads, **examine(folder, location, writers)}


def _wait_for_work(notes: Path, limit: float = 30.0) -> None:
    """Wait until a writer commits something, so that most kills hit a working writer, not a starting one."""
    before = notes.stat().st_size if notes.exists() else 0
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline and (notes.stat().st_size if notes.exists() else 0) == before:
        time.sleep(0.01)


def examine(folder: Path, location: str, writers: int) -> dict[str, object]:
    """Compare the batches that writers noted as committed with those that are stored."""
    committed = {
        f"{writer}-{line}"
        for writer in range(writers)
        if (folder / f"notes-{writer}").exists()
        for line in (folder / f"notes-{writer}").read_text().split()
    }
    with Warehouse(location) as warehouse:
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
        with Warehouse(location, version=version.name) as old:
            is_complete = old.query("SELECT count(*) FROM intents").scalar() == version.counts["intents"]
        torn_versions += not is_complete or version.counts["intents"] != version.counts["validations"]
    batches = stored["intents"]
    return {
        "batches": len(batches),
        "committed": len(committed),
        "lost": len(committed - batches.keys()),
        "doubled": doubled,
        "torn": sum(rows != ROWS for batch_rows in stored.values() for rows in batch_rows.values()),
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
        findings = run(folder, arguments.kills, arguments.writers, arguments.seed, arguments.warehouse)
        print(json.dumps(findings, indent=2))
    finally:
        if arguments.folder is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
