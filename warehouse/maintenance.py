"""Clears what a warehouse no longer needs: files of commits that never ended, old states, old versions.

Writers hold the writer's lock from their first file to their commit, so under that lock a file that no
state names is left over from a process that died.
"""

import duckdb

from taskloom.resources.record import Record
from taskloom.warehouse.errors import VersionError
from taskloom.warehouse.records import VersionTag
from taskloom.warehouse.storage.database import LAKE, first_row
from taskloom.warehouse.store import Warehouse


class Cleaning(Record):
    """What was removed, or would be."""

    orphan_files: tuple[str, ...] = ()
    """Files that no state names."""
    states: int = 0
    """States of the warehouse between versions that can no longer be read."""
    versions: tuple[str, ...] = ()
    """Versions that are no longer published."""


def clean(
    warehouse: Warehouse, *, keep: int | None = None, hours: float = 24.0, dry_run: bool = False
) -> Cleaning:
    """Remove orphan files, states that are neither published nor younger than `hours`, and old versions.

    The present state, tagged versions and the `keep` newest versions stay, at least one; without `keep`
    all do.
    """
    if keep is not None and keep < 1:
        raise VersionError(f"At least one version must stay; keep was {keep}.")
    tagged = {item.version for item in warehouse.read(VersionTag)}
    old = [] if keep is None else [item for item in warehouse.versions()[:-keep] if item.name not in tagged]
    if old and not dry_run:
        sql = "DELETE FROM dataset_versions WHERE list_contains($names, name)"
        names = {"names": [version.name for version in old]}
        warehouse.change(lambda connection: connection.execute(sql, names))
    kept = [version.snapshot_id for version in warehouse.versions() if version not in old]

    def sweep(connection: duckdb.DuckDBPyConnection) -> Cleaning:
        states = _expired(connection, kept, hours)
        if states and not dry_run:
            listed = ", ".join(map(str, states))
            connection.execute(f"CALL ducklake_expire_snapshots('{LAKE}', versions => [{listed}])")
            connection.execute(f"CALL ducklake_cleanup_old_files('{LAKE}', cleanup_all => true)")
        orphans = connection.execute(
            f"CALL ducklake_delete_orphaned_files('{LAKE}', cleanup_all => true, dry_run =>"
            f" {str(dry_run).lower()})"
        ).fetchall()
        return Cleaning(
            orphan_files=tuple(sorted(str(row[0]) for row in orphans)),
            states=len(states),
            versions=tuple(version.name for version in old),
        )

    return warehouse.maintain(sweep)


def tag(warehouse: Warehouse, name: str, version: str) -> VersionTag:
    """Give a version a further name, or move the name; a `VersionError` for no version, or a version's own
    name."""
    published = {item.name for item in warehouse.versions()}
    if version not in published:
        known = ", ".join(sorted(published)) or "none yet"
        raise VersionError(f"There is no dataset version {version!r}; published: {known}.")
    if name in published:
        raise VersionError(f"{name!r} is the name of a version; a tag needs another one.")
    made = VersionTag(tag=name, version=version)
    warehouse.write([made], replace=True)
    return made


def _expired(connection: duckdb.DuckDBPyConnection, kept: list[int], hours: float) -> list[int]:
    present = first_row(connection, f"SELECT max(snapshot_id) FROM ducklake_snapshots('{LAKE}')")
    rows = connection.execute(
        f"SELECT snapshot_id FROM ducklake_snapshots('{LAKE}')"
        " WHERE NOT list_contains($kept, snapshot_id) AND snapshot_id <> $present"
        " AND snapshot_time <= now() - to_seconds($seconds)",
        {"kept": kept, "present": present[0] if present else -1, "seconds": hours * 3600},
    ).fetchall()
    return [int(row[0]) for row in rows]
