"""Imports that are refused, with nothing stored."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.store import Warehouse
from tests.warehouse.foreign import run_import


def last_change(warehouse: Warehouse) -> int:
    """Number of the last change that was stored, in whatever table."""
    with closing(sqlite3.connect(warehouse.location.catalogue.removeprefix("sqlite:"))) as catalogue:
        return int(catalogue.execute("SELECT max(snapshot_id) FROM ducklake_snapshot").fetchone()[0])


def refusal(warehouse: Warehouse, name: str, folder: Path) -> ImportRefusedError:
    """The refusal of an import; checks that nothing of it was stored, in any table."""
    before = last_change(warehouse)
    with pytest.raises(ImportRefusedError) as caught:
        run_import(warehouse, name, folder)
    assert last_change(warehouse) == before
    assert caught.value.file and caught.value.reason
    return caught.value
