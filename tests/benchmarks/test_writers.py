"""The comparison of one and two writers is made from datasets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.writers import WriterFigures, table, writer_figures
from taskloom.warehouse.store import Warehouse
from tests.warehouse.samples import records


def test_figures_come_from_the_dataset(tmp_path: Path) -> None:
    with Warehouse(tmp_path / "warehouse") as warehouse:
        warehouse.write(records())
        found = writer_figures("one", warehouse)

    assert (found.accepted, found.written, found.rounds) == (2, 2, 3)
    assert found.tokens == 0, "the sample's one call is the explorer's"


def test_the_table_has_a_row_per_setting() -> None:
    rows = [WriterFigures("one", 1, 2, 3, 4, 5000), WriterFigures("two", 1, 1, 1, 1, 1)]

    assert "| one | 2 | 3 | 4 | 5,000 |" in table(rows)
    assert table(rows).count("\n") == 3


def test_without_a_model_there_is_nothing_to_compare() -> None:
    done = subprocess.run([sys.executable, "-m", "benchmarks.writers"], capture_output=True, text=True)

    assert done.returncode == 1
    assert "nothing to compare" in done.stderr
