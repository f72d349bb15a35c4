"""What changed between two dataset versions."""

from __future__ import annotations

from resources.record import Record
from warehouse.errors import QueryFailedError
from warehouse.schema import TABLES, Table
from warehouse.store import Warehouse

_BULKY = frozenset({"trajectory_steps", "file_texts", "control_lists"})
"""Tables whose rows never change under one key, so that comparing their content would only cost time."""


class TableChange(Record):
    """What changed in one table between two versions."""

    table: str
    """The table."""
    added: int
    """Rows that only the later version has."""
    removed: int
    """Rows that only the earlier version has."""
    changed: int
    """Rows of both versions whose content differs."""


def differences(warehouse: Warehouse, earlier: str, later: str) -> list[TableChange]:
    """Rows added, removed and changed from one version to another, for every table with a difference.

    Raises:
        VersionError: a version is not published.
    """
    first, second = warehouse.snapshot_of(earlier), warehouse.snapshot_of(later)
    found = []
    for table in TABLES:
        if table.name in ("dataset_versions", "version_tags"):
            continue
        change = TableChange(
            table=table.name,
            added=_only_in(warehouse, table, second, first),
            removed=_only_in(warehouse, table, first, second),
            changed=0 if table.name in _BULKY else _changed(warehouse, table, first, second),
        )
        if change.added or change.removed or change.changed:
            found.append(change)
    return found


def _only_in(warehouse: Warehouse, table: Table, here: int, there: int) -> int:
    key = ", ".join(f'"{name}"' for name in table.key)
    try:
        sql = (
            f"SELECT count(*) FROM (SELECT {key} FROM {table.name} AT (VERSION => {here})"
            f" EXCEPT SELECT {key} FROM {table.name} AT (VERSION => {there}))"
        )
        return int(str(warehouse.query(sql).scalar()))
    except QueryFailedError:
        return 0


def _changed(warehouse: Warehouse, table: Table, first: int, second: int) -> int:
    key = ", ".join(f'"{name}"' for name in table.key)
    try:
        sql = (
            f"SELECT count(*) FROM {table.name} AT (VERSION => {first}) AS a"
            f" JOIN {table.name} AT (VERSION => {second}) AS b USING ({key}) WHERE hash(a) <> hash(b)"
        )
        return int(str(warehouse.query(sql).scalar()))
    except QueryFailedError:
        return 0
