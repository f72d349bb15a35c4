"""Which schema a warehouse has, and whether it is known to be the present one.

The fingerprint of these source files is kept in the user's cache, because importing all records takes a
second.
"""

import contextlib
import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import Final

import duckdb

from taskloom.resources.whole_files import write_whole
from taskloom.warehouse.storage.database import LAKE, first_row

STATE_TABLE: Final = "warehouse_schema"
"""Table with one row per schema the warehouse has had; the last is the present one."""
_PACKAGES: Final = ("resources", "taskgraph", "warehouse")
"""Packages whose source files define the schema."""
_SUFFIXES: Final = (".py", ".sql", ".yaml")


def stored_state(connection: duckdb.DuckDBPyConnection) -> tuple[int, str] | None:
    """Version and fingerprint of the attached lake's schema; None if it has none."""
    try:
        row = first_row(
            connection,
            f"SELECT version, fingerprint FROM {LAKE}.main.{STATE_TABLE} ORDER BY applied_at DESC, version"
            " DESC LIMIT 1",
        )
    except duckdb.CatalogException:
        return None
    return (int(str(row[0])), str(row[1])) if row else None


def is_known(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the lake has the schema last found to be the present one; else ask `evolution.is_current`."""
    try:
        cached = json.loads(_cache_path().read_text("utf-8"))
    except (OSError, ValueError):
        return False
    stored = stored_state(connection)
    return stored is not None and cached == _cache_entry(*stored)


def remember(version: int, fingerprint: str) -> None:
    """Keep the present schema for `is_known`, if the cache can be written."""
    _write_cache(_cache_path(), version, fingerprint)


@cache
def _write_cache(path: Path, version: int, fingerprint: str) -> None:
    """Runs once per process, because hashing all sources takes part of the opening time."""
    entry = json.dumps(_cache_entry(version, fingerprint))
    with contextlib.suppress(OSError):
        if path.exists() and path.read_text("utf-8") == entry:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, entry)


def _cache_entry(version: int, fingerprint: str) -> dict[str, object]:
    return {"sources": _hash_of_sources(), "version": version, "fingerprint": fingerprint}


def _hash_of_sources() -> str:
    digest = hashlib.sha256()
    root = Path(__file__).resolve().parents[2]
    for package in _PACKAGES:
        for folder, folders, names in os.walk(root / package):
            folders.sort()
            for name in sorted(names):
                if name.endswith(_SUFFIXES):
                    state = Path(folder, name).stat()
                    digest.update(f"{folder}/{name} {state.st_size} {state.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _cache_path() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "taskloom" / "schema.json"
