"""Exports, imports and cleans up a ledger."""

from __future__ import annotations

import sqlite3
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from taskloom.model_clients.errors import LedgerBrokenError
from taskloom.model_clients.ledger.ledger import Ledger, moment
from taskloom.model_clients.ledger.writer import create_tables
from taskloom.taskgraph.records.model_calls import FINAL_OUTCOMES, ModelCall

_COLUMNS = ", ".join((*ModelCall.model_fields, "request", "reply"))
_FINAL = f"({', '.join(repr(outcome) for outcome in sorted(FINAL_OUTCOMES))})"


@dataclass(frozen=True, slots=True)
class Imported:
    """What came in."""

    added: int
    """Calls that were new."""
    present: int
    """Calls that were there already."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was thrown away."""

    calls: int
    requests: int
    """Requests of calls whose replies stay."""
    contents: int
    """Pictures and long texts that no call needs any longer."""
    bytes_before: int
    """Size of the file before."""
    bytes_after: int
    """Size of the file after."""


def export_ledger(ledger: Ledger, target: Path, run_id: str | None = None) -> int:
    """Write all calls, or those of one run, to a new file; returns how many.

    The file is itself a ledger, consistent even while others write, without leases or pending batches.

    Raises:
        LedgerBrokenError: the target exists, or cannot be written.
    """
    if target.exists():
        raise LedgerBrokenError(f"{target} exists already; give another file or remove it")
    if not target.parent.is_dir():
        raise LedgerBrokenError(f"cannot write {target}: the folder {target.parent} does not exist")
    condition = "" if run_id is None else "WHERE run_id = ?"
    parameters = () if run_id is None else (run_id,)
    partial = target.with_name(target.name + ".partial")
    partial.unlink(missing_ok=True)
    try:
        connection = sqlite3.connect(partial)
        try:
            create_tables(connection)
            connection.execute("ATTACH ? AS source", (str(ledger.path),))
            connection.execute("BEGIN")
            connection.execute(
                f"INSERT INTO calls ({_COLUMNS}) SELECT {_COLUMNS} FROM source.calls {condition}",  # noqa: S608
                parameters,
            )
            connection.execute(
                "INSERT INTO call_contents SELECT * FROM source.call_contents WHERE key IN (SELECT key FROM"
                " main.calls)"
            )
            connection.execute(
                "INSERT INTO contents SELECT * FROM source.contents"
                " WHERE sha256 IN (SELECT sha256 FROM main.call_contents)"
            )
            count = int(connection.execute("SELECT COUNT(*) FROM main.calls").fetchone()[0])
            connection.commit()
        finally:
            connection.close()
        partial.rename(target)
    except (sqlite3.Error, OSError) as error:
        partial.unlink(missing_ok=True)
        raise LedgerBrokenError(f"cannot export the ledger to {target}: {error}") from error
    return count


def import_ledger(ledger: Ledger, source: Path) -> Imported:
    """Import the calls of an exported file; finished calls that already exist are kept.

    Raises:
        LedgerBrokenError: the source is missing or not a ledger.
    """
    if not source.is_file():
        raise LedgerBrokenError(f"there is no file {source}")
    connection = sqlite3.connect(ledger.path, timeout=60, isolation_level=None)
    try:
        with tempfile.TemporaryDirectory() as folder:
            connection.execute("ATTACH ? AS source", (str(_up_to_date(source, Path(folder))),))
            connection.execute("BEGIN IMMEDIATE")
            offered = int(connection.execute("SELECT COUNT(*) FROM source.calls").fetchone()[0])
            connection.execute(
                f"DELETE FROM main.calls WHERE outcome NOT IN {_FINAL}"  # noqa: S608 - our own words
                f" AND key IN (SELECT key FROM source.calls WHERE outcome IN {_FINAL})"
            )
            added = connection.execute(
                f"INSERT OR IGNORE INTO main.calls ({_COLUMNS}) SELECT {_COLUMNS} FROM source.calls"  # noqa: S608
            ).rowcount
            connection.execute("INSERT OR IGNORE INTO main.contents SELECT * FROM source.contents")
            connection.execute("INSERT OR IGNORE INTO main.call_contents SELECT * FROM source.call_contents")
            connection.execute("COMMIT")
            connection.execute("DETACH source")
    except sqlite3.Error as error:
        raise LedgerBrokenError(f"{source} cannot be imported as a ledger: {error}") from error
    finally:
        connection.close()
    return Imported(added, offered - added)


def prune_ledger(
    ledger: Ledger, *, older_than_days: float | None = None, failed: bool = False, requests: bool = False
) -> Pruned:
    """Delete what the arguments select, then all pictures and texts that no call needs, and shrink the file.

    Args:
        ledger: the ledger.
        older_than_days: calls that ended longer ago; they would have to be paid for again.
        failed: calls without a reply.
        requests: the messages of all calls; their replies stay and still save calls.

    Raises:
        LedgerBrokenError: the file cannot be written.
    """
    before = _size(ledger.path)
    connection = sqlite3.connect(ledger.path, timeout=60, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        calls = cleared = 0
        if older_than_days is not None:
            oldest = moment(datetime.now(UTC) - timedelta(days=older_than_days))
            calls += connection.execute("DELETE FROM calls WHERE finished_at < ?", (oldest,)).rowcount
        if failed:
            calls += connection.execute(f"DELETE FROM calls WHERE outcome NOT IN {_FINAL}").rowcount  # noqa: S608
        if requests:
            cleared = connection.execute("UPDATE calls SET request = NULL WHERE request IS NOT NULL").rowcount
            connection.execute("DELETE FROM call_contents")
        connection.execute("DELETE FROM call_contents WHERE key NOT IN (SELECT key FROM calls)")
        contents = connection.execute(
            "DELETE FROM contents WHERE sha256 NOT IN (SELECT sha256 FROM call_contents)"
        ).rowcount
        connection.execute("COMMIT")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        raise LedgerBrokenError(f"cannot prune the ledger {ledger.path}: {error}") from error
    finally:
        connection.close()
    return Pruned(calls, cleared, contents, before, _size(ledger.path))


def _up_to_date(source: Path, folder: Path) -> Path:
    """`source`, or a copy in `folder` migrated to the current tables; `source` is never changed."""
    connection = sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)
    try:
        columns = {str(row[1]) for row in connection.execute("PRAGMA table_info(calls)")}
        if set(ModelCall.model_fields) <= columns:
            return source
        copy = sqlite3.connect(folder / "ledger.sqlite", isolation_level=None)
        try:
            connection.backup(copy)
            create_tables(copy)
        finally:
            copy.close()
    finally:
        connection.close()
    return folder / "ledger.sqlite"


def _size(path: Path) -> int:
    return sum(part.stat().st_size for part in (path, path.with_name(path.name + "-wal")) if part.exists())
