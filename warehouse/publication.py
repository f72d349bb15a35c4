"""What is written down when a dataset version is published.

A version is a snapshot of the catalogue, and one row in one commit; its counts are of the same snapshot.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import duckdb
from pydantic import JsonValue, ValidationError

from taskloom.warehouse.errors import VersionError
from taskloom.warehouse.records import DatasetVersion
from taskloom.warehouse.schema import TABLES
from taskloom.warehouse.storage.database import LAKE, first_row


@dataclass(frozen=True, slots=True)
class Publication:
    """What the publisher says about a version."""

    name: str
    """Name; empty for the next `v<number>`."""
    run_id: str
    description: str
    settings: dict[str, JsonValue]


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
    counts.pop("version_tags")
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
            f"{name!r} is not a name for a version: letters, digits, dot, dash and underscore."
        ) from None


def _next_name(known: list[str]) -> str:
    number = len(known) + 1
    while f"v{number}" in known:
        number += 1
    return f"v{number}"


def _number(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    row = first_row(connection, sql)
    return int(str(row[0])) if row else 0
