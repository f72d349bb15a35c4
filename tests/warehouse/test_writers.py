"""Several processes, killed processes, full disks and read-only folders."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.warehouse_kills import run
from taskloom.taskgraph.records.task import Intent
from taskloom.warehouse.errors import WarehouseUnavailableError
from taskloom.warehouse.store import Warehouse
from tests.limits import LONGEST_SECONDS


def intents(prefix: str, count: int, length: int = 10) -> list[Intent]:
    draw = random.Random(prefix)
    return [
        Intent(intent_id=f"{prefix}-{number}", text=draw.randbytes(length).hex(), subtask_ids=())
        for number in range(count)
    ]


@pytest.mark.slow
def test_killed_writers_lose_double_and_tear_nothing(tmp_path: Path) -> None:
    found = run(tmp_path, kills=3, writers=2, mean_life=0.3)

    assert int(str(found["batches"])) > 0
    for fault in ("lost", "doubled", "torn", "in_one_table_only", "torn_reads", "torn_versions"):
        assert found[fault] == 0, found


def test_threads_share_one_warehouse(warehouse: Warehouse) -> None:
    def add(name: str) -> None:
        for part in range(3):
            warehouse.write(intents(f"{name}{part}", 5))
            warehouse.query("SELECT count(*) FROM intents")

    threads = [threading.Thread(target=add, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert warehouse.count(Intent) == 45


@pytest.mark.slow
def test_the_same_id_from_two_processes_is_stored_once(warehouse: Warehouse, tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from tests.warehouse.test_writers import intents\n"
        "from taskloom.warehouse.store import Warehouse\n"
        "with Warehouse(sys.argv[1]) as opened:\n"
        "    for part in range(5):\n"
        "        opened.write(intents(f'same{part}', 20))\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "warehouse")]
    processes = [subprocess.Popen(command, cwd=Path(__file__).parents[2]) for _ in range(2)]

    assert [process.wait(timeout=LONGEST_SECONDS) for process in processes] == [0, 0]
    assert warehouse.count(Intent) == 100


def test_a_reader_rolls_back_what_a_killed_commit_left(filled: Warehouse, tmp_path: Path) -> None:
    filled.close()
    catalogue = sqlite3.connect(tmp_path / "warehouse" / "catalog.sqlite", isolation_level=None)
    catalogue.execute("PRAGMA cache_size = 1")
    catalogue.execute("BEGIN IMMEDIATE")
    catalogue.execute("UPDATE ducklake_metadata SET value = value || 'torn'")
    catalogue.execute("CREATE TABLE junk (a)")
    catalogue.executemany("INSERT INTO junk VALUES (?)", [("x" * 900,)] * 2000)
    shutil.copytree(tmp_path / "warehouse", tmp_path / "killed")
    catalogue.execute("ROLLBACK")
    catalogue.close()
    assert (tmp_path / "killed" / "catalog.sqlite-journal").exists()

    with Warehouse(tmp_path / "killed", read_only=True) as opened:
        assert opened.count(Intent) == 1


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of its own; needs root."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_said_plainly_and_damages_nothing(filled_template: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "3m") as disk:
        shutil.copytree(filled_template, disk / "w")
        opened = Warehouse(disk / "w")
        written = 0
        with pytest.raises(WarehouseUnavailableError, match="No space is left"):
            for part in range(100):
                opened.write(intents(f"p{part}", 100, 2000))
                written += 1
        opened.close()

        with Warehouse(disk / "w", read_only=True) as again:
            assert again.count(Intent) == 1 + 100 * written


def test_a_read_only_folder_can_be_asked_and_not_written(filled_template: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "20m") as disk:
        shutil.copytree(filled_template, disk / "w")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)

        with Warehouse(disk / "w", read_only=True) as opened:
            assert opened.count(Intent) == 1
        with pytest.raises(WarehouseUnavailableError, match=r"[Rr]ead-only"):
            Warehouse(disk / "w")
        with pytest.raises(WarehouseUnavailableError, match=r"[Rr]ead-only"):
            Warehouse(disk / "new")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_refused(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)

    with pytest.raises(WarehouseUnavailableError, match="Permission denied"):
        Warehouse(tmp_path / "closed" / "w")
