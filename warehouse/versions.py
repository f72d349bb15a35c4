"""Dataset versions: a name for one state of the whole warehouse, and what changed between two of them.

A version is a snapshot of the catalogue, so it can never change, and publishing writes one row in one commit: other
processes see the version whole or not at all. The counts, funnel, models and price are taken from the same snapshot.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import duckdb
from pydantic import JsonValue, ValidationError

from resources.record import Record
from warehouse.errors import QueryFailedError, VersionError
from warehouse.records import DatasetVersion
from warehouse.schema import TABLES, Table
from warehouse.storage.database import LAKE, first_row

if TYPE_CHECKING:
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


@dataclass(frozen=True, slots=True)
class Publication:
    """What the publisher says about a version."""

    name: str
    """Name; empty for the next `v<number>`."""
    run_id: str
    """Run that publishes."""
    description: str
    """What it is, for people."""
    settings: dict[str, JsonValue]
    """Settings of the run."""


def describe_present(connection: duckdb.DuckDBPyConnection, publication: Publication) -> DatasetVersion:
    """The record of a new version of the state that the connection's transaction sees.

    Raises:
        VersionError: the name is taken or not a name.
    """
    known = [
        str(row[0])
        for row in connection.execute("SELECT name FROM dataset_versions ORDER BY snapshot_id").fetchall()
    ]
    name = publication.name or _next_name(known)
    if name in known:
        raise VersionError(
            f"The version {name!r} is published already and cannot change; choose another name."
        )
    counts = {table.name: _number(connection, f"SELECT count(*) FROM {table.name}") for table in TABLES}
    counts.pop("dataset_versions")
    funnel = {
        f"{step}: {reason}" if reason else str(step): int(items)
        for step, reason, items in connection.execute("SELECT step, reason, items FROM funnel").fetchall()
    }
    models = connection.execute(
        "SELECT DISTINCT provider || '/' || model AS name FROM model_calls ORDER BY name"
    ).fetchall()
    cost = first_row(connection, "SELECT coalesce(sum(cost_usd), 0) FROM model_calls")
    try:
        return DatasetVersion(
            name=name,
            snapshot_id=_number(connection, f"SELECT id FROM ducklake_current_snapshot('{LAKE}')"),
            parent=known[-1] if known else "",
            run_id=publication.run_id,
            created_at=datetime.now(UTC).isoformat(timespec="microseconds"),
            description=publication.description,
            counts=counts,
            funnel=funnel,
            models=tuple(str(row[0]) for row in models),
            cost_usd=float(str(cost[0])) if cost else 0.0,
            settings=publication.settings,
        )
    except ValidationError:
        raise VersionError(
            f"{name!r} is no name for a version: letters, digits, dot, dash and underscore."
        ) from None


def differences(warehouse: Warehouse, earlier: str, later: str) -> list[TableChange]:
    """Rows added, removed and changed from one version to another, for every table with a difference.

    Raises:
        VersionError: a version is not published.
    """
    first, second = warehouse.snapshot_of(earlier), warehouse.snapshot_of(later)
    found = []
    for table in TABLES:
        if table.name == "dataset_versions":
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


def _next_name(known: list[str]) -> str:
    number = len(known) + 1
    while f"v{number}" in known:
        number += 1
    return f"v{number}"


def _number(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    row = first_row(connection, sql)
    return int(str(row[0])) if row else 0
