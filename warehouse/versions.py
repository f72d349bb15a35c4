"""What changed between two dataset versions."""

from __future__ import annotations

from taskloom.resources.record import Record
from taskloom.warehouse.errors import TableMissingError
from taskloom.warehouse.schema import TABLES, Table
from taskloom.warehouse.store import Warehouse

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
        there = [snapshot for snapshot in (first, second) if _exists(warehouse, table, snapshot)]
        both = there == [first, second]
        change = TableChange(
            table=table.name,
            added=_only_in(warehouse, table, second, first if both else None) if second in there else 0,
            removed=_only_in(warehouse, table, first, second if both else None) if first in there else 0,
            changed=_changed(warehouse, table, first, second) if both and table.name not in _BULKY else 0,
        )
        if change.added or change.removed or change.changed:
            found.append(change)
    return found


def _exists(warehouse: Warehouse, table: Table, snapshot: int) -> bool:
    """Whether the table existed already; later versions of taskloom add tables."""
    try:
        warehouse.query(f"SELECT 1 FROM {table.name} AT (VERSION => {snapshot}) LIMIT 0")
    except TableMissingError:
        return False
    return True


def _only_in(warehouse: Warehouse, table: Table, here: int, there: int | None) -> int:
    """Rows of one snapshot whose key is missing from another one, if there is one."""
    key = ", ".join(f'"{name}"' for name in table.key)
    sql = f"SELECT {key} FROM {table.name} AT (VERSION => {here})"
    if there is not None:
        sql += f" EXCEPT SELECT {key} FROM {table.name} AT (VERSION => {there})"
    return int(str(warehouse.query(f"SELECT count(*) FROM ({sql})").scalar()))


def _changed(warehouse: Warehouse, table: Table, first: int, second: int) -> int:
    key = ", ".join(f'"{name}"' for name in table.key)
    sql = (
        f"SELECT count(*) FROM (SELECT * FROM {table.name} AT (VERSION => {first})) AS a JOIN (SELECT * FROM"
        f" {table.name} AT (VERSION => {second})) AS b USING ({key}) WHERE hash(a) <> hash(b)"
    )
    return int(str(warehouse.query(sql).scalar()))
