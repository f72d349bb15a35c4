"""The warehouse, which stores and reads records and runs queries. The rest of this package builds on it."""

import functools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Self, TypeVar

import duckdb
from pydantic import JsonValue, ValidationError

from taskloom.resources.record import Record
from taskloom.taskgraph.records.exploration import SeenScreen
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.errors import VersionError, WarehouseError, WarehouseUnavailableError
from taskloom.warehouse.field_codecs import Shared
from taskloom.warehouse.querying import QueryParameters, Reader
from taskloom.warehouse.records import DatasetVersion, VersionTag
from taskloom.warehouse.schema import TABLES, Table
from taskloom.warehouse.storage.database import (
    LAKE,
    WriterLock,
    connect_reader,
    connect_writer,
    first_row,
    retry,
    transaction,
)
from taskloom.warehouse.storage.evolution import COMPLETED, bring_up_to_date, complete_for_reading, is_current
from taskloom.warehouse.storage.locations import parse_location, reason_of
from taskloom.warehouse.storage.object_storage import Screenshots
from taskloom.warehouse.storage.rows import batch_of, decode_record, insert_rows, references, table_of

R = TypeVar("R", bound=Record)
T = TypeVar("T")
_READ_ROWS, _READ_TRAJECTORIES, _COMPACT_EVERY = 500, 20, 200
_ROW_GROUP = 20_000  # Rows in merged Parquet files: a task with its graph takes kilobytes in memory.


class Warehouse(Reader):
    """Stores records in tables that SQL can query, with named versions.

    Several processes may write and read at once: a commit covers all tables or none, writers take turns,
    and a reader sees the state of some whole commit. One object may be used from several threads.

    Raises:
        WarehouseUnavailableError, WarehouseTooNewError: the location cannot be opened; nothing was changed.
        VersionError: `version` names no published version.
    """

    def __init__(self, location: str | Path, read_only: bool = False, version: str | None = None) -> None:
        """Open the warehouse at `location`; create it unless `read_only` or a `version` is given."""
        self.address = location
        self.location = parse_location(location)
        self.read_only = read_only or version is not None
        self.version = version
        self.screenshots = Screenshots(self.location.screenshots)
        self._lock = threading.RLock()
        self._writer: duckdb.DuckDBPyConnection | None = None
        self._reader: duckdb.DuckDBPyConnection | None = None
        self._catalogue = LAKE
        self._writes = 0
        if not self.read_only:
            self._open_for_writing()
        self._snapshot: int | None = None
        if version is not None:
            with Warehouse(location, read_only=True) as present:
                self._snapshot = present.snapshot_of(version)
        if self.read_only:
            self._open_reader()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release connections. May be called twice."""
        with self._lock:
            for connection in (self._writer, self._reader):
                if connection is not None:
                    connection.close()
            self._writer = self._reader = None

    def reopened(self, version: str | None = None) -> "Warehouse":
        """A second, read-only connection: to the present state or one version; `VersionError` if there is
        none."""
        return Warehouse(self.address, read_only=True, version=version)

    def write(self, records: Sequence[Record], replace: bool = False) -> None:
        """Store records of any classes in one commit over all tables.

        A row whose id is already stored is kept, so a write may be repeated; with `replace` it is
        replaced. Screenshots are stored first.

        Raises:
            RowInvalidError: a record that fits no table; nothing was stored.
            WarehouseUnavailableError, WarehouseBusyError: not writable, or locked by others for too long.
        """
        batch = batch_of(records)
        tables = batch.arrow()
        self.screenshots.write_all(batch.shared.pictures)
        if tables:
            self.change(lambda connection: insert_rows(connection, tables, replace))

    def change(self, action: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """Run `action` in one transaction as the only writer, and commit; raises what `write` does."""

        def attempt() -> T:
            with transaction(writer):
                return action(writer)

        with self._lock:
            writer = self._require_writer()
            with WriterLock(self.location):
                try:
                    result = retry(attempt, self.location)
                except duckdb.Error as error:
                    raise WarehouseUnavailableError(
                        f"Nothing was written to {self.location.label}: {reason_of(error)}"
                    ) from None
            self._writes += 1
            if self._writes % _COMPACT_EVERY == 0:
                self.compact()
            return result

    def maintain(self, action: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """Run `action`, which maintains files, outside a transaction and as the only writer."""
        with self._lock:
            writer = self._require_writer()
            with WriterLock(self.location):
                return retry(lambda: action(writer), self.location)

    def publish(
        self,
        name: str = "",
        *,
        run_id: str = "",
        description: str = "",
        settings: Mapping[str, JsonValue] | None = None,
    ) -> DatasetVersion:
        """Publish the present state, by default as the next `v<number>`; `VersionError` for a taken or bad
        name."""
        self.compact()

        def insert_version(connection: duckdb.DuckDBPyConnection) -> DatasetVersion:
            version = _new_version(connection, name, run_id, description, dict(settings or {}))
            insert_rows(connection, batch_of([version]).arrow(), replace=False)
            return version

        return self.change(insert_version)

    def versions(self) -> list[DatasetVersion]:
        """Published versions, oldest first."""
        return list(self.read(DatasetVersion, order_by="snapshot_id, name"))

    def snapshot_of(self, version: str) -> int:
        """The snapshot of a published version, named by its own name or a tag; `VersionError` if there is
        none."""
        rows = self.query(
            "SELECT name, snapshot_id FROM dataset_versions ORDER BY snapshot_id, name"
        ).as_dicts()
        known = {str(row["name"]): int(str(row["snapshot_id"])) for row in rows}
        if version not in known:
            tag = self.find(VersionTag, "tag", version)
            version = tag.version if tag is not None else version
        if version not in known:
            raise VersionError(
                f"There is no dataset version {version!r}; published: {', '.join(known) or 'none yet'}."
            )
        return known[version]

    def compact(self) -> None:
        """Merge small data files; versions stay readable. Unreferenced files are deleted after a day."""
        with self._lock:
            writer = self._require_writer()
            with WriterLock(self.location):
                # Merging holds one row group per thread in memory, and one thread is as fast.
                writer.execute("SET threads = 1")
                try:
                    for call in (
                        f"{LAKE}.set_option('parquet_row_group_size', '{_ROW_GROUP}')",
                        f"ducklake_merge_adjacent_files('{LAKE}')",
                    ):
                        retry(functools.partial(writer.execute, f"CALL {call}"), self.location)
                finally:
                    writer.execute("RESET threads")
                retry(
                    lambda: writer.execute(
                        f"CALL ducklake_cleanup_old_files('{LAKE}', older_than => now() - INTERVAL 1 DAY)"
                    ),
                    self.location,
                )

    def read(
        self,
        record: type[R],
        where: str = "",
        parameters: QueryParameters = (),
        *,
        pictures: bool = False,
        order_by: str = "",
    ) -> Iterator[R]:
        """Records of a class, optionally only those that satisfy the SQL condition `where`.

        A trajectory comes with its steps; `pictures` adds the bytes of its screenshots.

        Raises:
            RowInvalidError, ScreenshotMissingError: a stored row is not valid, or a picture is absent.
            QueryFailedError, QueryRefusedError: the condition does not run, or could leave the warehouse.
        """
        table = table_of(record)
        order = order_by or ", ".join(f'"{name}"' for name in table.key)
        sql = f"SELECT * FROM {table.name}{f' WHERE ({where})' if where else ''} ORDER BY {order}"
        rows = self.query(sql, parameters).table
        size = _READ_TRAJECTORIES if record is Trajectory else _READ_ROWS
        for start in range(0, rows.num_rows, size):
            yield from self._decode(table, record, rows.slice(start, size).to_pylist(), pictures)

    def find(self, record: type[R], column: str, value: str, *, pictures: bool = False) -> R | None:
        """The first record that `read` returns with this value of `column`; None if there is none."""
        return next(self.read(record, f"{column} = ?", [value], pictures=pictures), None)

    def _session(self) -> tuple[duckdb.DuckDBPyConnection, str, AbstractContextManager[object]]:
        with self._lock:
            connection = self._open_reader().cursor()
        # A reader and a writer of one process can deadlock on the catalogue's locks, so they take turns.
        return connection, self._catalogue, self._lock if self._writer is not None else nullcontext()

    def count(self, record: type[Record], where: str = "") -> int:
        """Number of stored records of a class."""
        table = table_of(record)
        condition = f" WHERE ({where})" if where else ""
        return self.query(f"SELECT count(*) FROM {table.name}{condition}").number()

    def _decode(
        self, table: Table, record: type[R], rows: list[dict[str, Any]], pictures: bool
    ) -> Iterator[R]:
        shared = Shared(read_picture=self.screenshots.read if pictures else None)
        steps: dict[str, list[dict[str, Any]]] = {}
        if record is Trajectory:
            wanted = [row["trajectory_id"] for row in rows]
            result = self.query(
                "SELECT * FROM trajectory_steps WHERE trajectory_id IN (SELECT unnest(?::VARCHAR[]))"
                " ORDER BY trajectory_id, step",
                [wanted],
            )
            for step in result.table.to_pylist():
                steps.setdefault(step["trajectory_id"], []).append(step)
        if record in (Trajectory, SeenScreen):
            texts, controls = references([rows, list(steps.values())])
            shared.texts = self._read_shared("file_texts", "text", texts)
            shared.controls = self._read_shared("control_lists", "controls", controls)
        for row in rows:
            decoded = decode_record(table, row, shared, steps.get(str(row.get("trajectory_id")), ()))
            if isinstance(decoded, record):
                yield decoded

    def _read_shared(self, table: str, column: str, wanted: set[str]) -> dict[str, Any]:
        if not wanted:
            return {}
        sql = f"SELECT {column}_id, {column} FROM {table} WHERE {column}_id IN (SELECT unnest(?::VARCHAR[]))"
        ids, values = self.query(sql, [sorted(wanted)]).table.to_pydict().values()
        return dict(zip(ids, values, strict=True))

    def _open_for_writing(self) -> None:
        folder = self.location.data_folder
        if folder is not None:
            try:
                (folder / "data").mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise WarehouseUnavailableError(
                    f"The warehouse {self.location.label} cannot be created: {error.strerror}"
                ) from None
        with WriterLock(self.location):
            writer = connect_writer(self.location)
            try:
                if not is_current(writer, self.location.label):
                    writer.execute(f"CALL {LAKE}.set_option('parquet_compression', 'zstd')")
                    retry(lambda: bring_up_to_date(writer), self.location)
            except duckdb.Error as error:
                writer.close()
                raise WarehouseUnavailableError(
                    f"The warehouse {self.location.label} cannot be prepared: {reason_of(error)}"
                ) from None
            except WarehouseError:
                writer.close()
                raise
        self._writer = writer

    def _require_writer(self) -> duckdb.DuckDBPyConnection:
        if self._writer is None:
            raise WarehouseUnavailableError(
                f"The warehouse {self.location.label} was opened for reading only."
            )
        return self._writer

    def _open_reader(self) -> duckdb.DuckDBPyConnection:
        if self._reader is None:
            reader = connect_reader(self.location, self._snapshot)
            if not retry(lambda: is_current(reader, self.location.label), self.location):
                complete_for_reading(reader)
                self._catalogue = COMPLETED
            self._reader = reader
        return self._reader


def _new_version(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    run_id: str,
    description: str,
    settings: dict[str, JsonValue],
) -> DatasetVersion:
    """The record of a new version of the state that the connection's transaction sees."""
    rows = connection.execute("SELECT name FROM dataset_versions ORDER BY snapshot_id").fetchall()
    known = [str(row[0]) for row in rows]
    name = name or next(free for number in count(len(known) + 1) if (free := f"v{number}") not in known)
    if name in known:
        raise VersionError(
            f"The version {name!r} is already published and cannot change; choose another name."
        )
    counts = {table.name: _query_number(connection, f"SELECT count(*) FROM {table.name}") for table in TABLES}
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
            snapshot_id=_query_number(connection, f"SELECT id FROM ducklake_current_snapshot('{LAKE}')"),
            parent=known[-1] if known else "",
            run_id=run_id,
            created_at=datetime.now(UTC).isoformat(timespec="microseconds"),
            description=description,
            counts=counts,
            funnel=funnel,
            models=tuple(str(row[0]) for row in models),
            cost_usd=float(str(cost[0])) if cost else 0.0,
            settings=settings,
        )
    except ValidationError:
        raise VersionError(
            f"{name!r} is not a valid version name; use letters, digits, dots, dashes and underscores."
        ) from None


def _query_number(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    row = first_row(connection, sql)
    return int(str(row[0])) if row else 0
