"""The warehouse: records in, records and answers out. The rest of this package builds on it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import duckdb
import pyarrow as pa
from pydantic import JsonValue

from taskloom.resources.record import Record
from taskloom.taskgraph.records.exploration import SeenScreen
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.errors import (
    VersionError,
    WarehouseError,
    WarehouseUnavailableError,
)
from taskloom.warehouse.field_codecs import Shared
from taskloom.warehouse.publication import Publication, describe_present
from taskloom.warehouse.querying.asking import ask
from taskloom.warehouse.querying.query_result import QueryResult
from taskloom.warehouse.records import DatasetVersion, VersionTag
from taskloom.warehouse.schema import Table
from taskloom.warehouse.storage.database import LAKE, connect_reader, connect_writer, retried
from taskloom.warehouse.storage.evolution import COMPLETED, bring_up_to_date, complete_for_reading, is_current
from taskloom.warehouse.storage.locations import parse_location
from taskloom.warehouse.storage.locking import WriterLock
from taskloom.warehouse.storage.object_storage import Screenshots
from taskloom.warehouse.storage.rows import batch_of, decode_record, insert_rows, references, table_of
from taskloom.warehouse.storage.storage_access import reason_of

R = TypeVar("R", bound=Record)
T = TypeVar("T")
_READ_ROWS, _READ_TRAJECTORIES, _STREAMED_ROWS, _COMPACT_EVERY = 500, 20, 20_000, 200
_ROW_GROUP = 20_000  # Rows in merged Parquet files: a task with its graph takes kilobytes in memory.


class Warehouse:
    """Stores records in tables that SQL can query, with named versions.

    Several processes may write and read at once: a commit covers all tables or none, writers take turns, and
    a reader sees the state of some whole commit. One object may be used from several threads.

    Raises:
        WarehouseUnavailableError: the place cannot be opened; nothing was changed.
        WarehouseTooNewError: a later taskloom wrote it.
        VersionError: `version` names no published version.
    """

    def __init__(self, location: str | Path, read_only: bool = False, version: str | None = None) -> None:
        """Open the warehouse at `location`; create it unless `read_only` or a `version` is given."""
        self.address = location
        self.location = parse_location(location)
        self.read_only = read_only or version is not None
        self.version = version
        self.screenshots = Screenshots(self.location.screenshots)
        self._guard = threading.RLock()
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
            self._reading()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release connections. May be called twice."""
        with self._guard:
            for connection in (self._writer, self._reader):
                if connection is not None:
                    connection.close()
            self._writer = self._reader = None

    def reopened(self, version: str | None = None) -> Warehouse:
        """A second, read-only connection to the same warehouse: its present state or one version of it.

        Raises:
            VersionError: no such version.
        """
        return Warehouse(self.address, read_only=True, version=version)

    def write(self, records: Sequence[Record], replace: bool = False) -> None:
        """Store records of any classes in one commit over all tables.

        A row whose id is stored already is left as it is, so a write may be repeated; with `replace` it is
        exchanged. Screenshots are stored first, under the hash of their bytes.

        Raises:
            RowInvalidError: a record that fits no table; nothing was stored.
            WarehouseUnavailableError, WarehouseBusyError: the disk is full or read-only, or others hold the
            catalogue too long.
        """
        batch = batch_of(records)
        tables = batch.arrow()
        self.screenshots.write_all(batch.shared.pictures)
        if tables:
            self.change(lambda connection: insert_rows(connection, tables, replace))

    def change(self, action: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """Run `action` in one transaction as the only writer, and commit.

        Raises:
            WarehouseUnavailableError, WarehouseBusyError: as `write` does, or opened read-only.
        """

        def once() -> T:
            writer.execute("BEGIN")
            try:
                answer = action(writer)
                writer.execute("COMMIT")
            except BaseException:
                _roll_back(writer)
                raise
            return answer

        with self._guard:
            writer = self._writing()
            with WriterLock(self.location):
                try:
                    answer = retried(once, self.location)
                except duckdb.Error as error:
                    raise WarehouseUnavailableError(
                        f"Nothing was written to {self.location.shown}: {reason_of(error)}"
                    ) from None
            self._writes += 1
            if self._writes % _COMPACT_EVERY == 0:
                self.compact()
            return answer

    def maintain(self, action: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """Run `action`, which maintains files, outside a transaction and as the only writer."""
        with self._guard:
            writer = self._writing()
            with WriterLock(self.location):
                return retried(lambda: action(writer), self.location)

    def publish(
        self,
        name: str = "",
        *,
        run_id: str = "",
        description: str = "",
        settings: Mapping[str, JsonValue] | None = None,
    ) -> DatasetVersion:
        """Publish the present state as a dataset version; without a name it is the next `v<number>`.

        Raises:
            VersionError: the name is taken or not a name.
        """
        self.compact()
        publication = Publication(name, run_id, description, dict(settings or {}))

        def put(connection: duckdb.DuckDBPyConnection) -> DatasetVersion:
            version = describe_present(connection, publication)
            insert_rows(connection, batch_of([version]).arrow(), replace=False)
            return version

        return self.change(put)

    def versions(self) -> list[DatasetVersion]:
        """Published versions, oldest first."""
        return list(self.read(DatasetVersion, order_by="snapshot_id, name"))

    def snapshot_of(self, version: str) -> int:
        """The catalogue's snapshot of a published version, named by its own name or a tag.

        Raises:
            VersionError: no such version; the published ones are named.
        """
        rows = self.query(
            "SELECT name, snapshot_id FROM dataset_versions ORDER BY snapshot_id, name"
        ).as_dicts()
        known = {str(row["name"]): int(str(row["snapshot_id"])) for row in rows}
        if version not in known:
            version = next((item.version for item in self.read(VersionTag, "tag = ?", [version])), version)
        if version not in known:
            raise VersionError(
                f"There is no dataset version {version!r}; published: {', '.join(known) or 'none yet'}."
            )
        return known[version]

    def compact(self) -> None:
        """Merge small data files; versions stay readable. Files that no commit names go after a day."""
        with self._guard:
            writer = self._writing()
            with WriterLock(self.location):
                # What merging holds is a row group for each thread; one thread takes as long.
                writer.execute("SET threads = 1")
                try:
                    for call in (
                        f"{LAKE}.set_option('parquet_row_group_size', '{_ROW_GROUP}')",
                        f"ducklake_merge_adjacent_files('{LAKE}')",
                    ):
                        retried(functools.partial(writer.execute, f"CALL {call}"), self.location)
                finally:
                    writer.execute("RESET threads")
                retried(
                    lambda: writer.execute(
                        f"CALL ducklake_cleanup_old_files('{LAKE}', older_than => now() - INTERVAL 1 DAY)"
                    ),
                    self.location,
                )

    def read(
        self,
        record: type[R],
        where: str = "",
        parameters: Sequence[object] | Mapping[str, object] = (),
        *,
        pictures: bool = False,
        order_by: str = "",
    ) -> Iterator[R]:
        """Records of a class, optionally those for which the SQL condition `where` holds.

        A trajectory comes with its steps; `pictures` fills the bytes of its screenshots.

        Raises:
            RowInvalidError: a stored row is no valid record.
            QueryFailedError, QueryRefusedError: the condition does not run, or could leave the warehouse.
            ScreenshotMissingError: a picture is asked for that is not stored.
        """
        table = table_of(record)
        order = order_by or ", ".join(f'"{name}"' for name in table.key)
        sql = f"SELECT * FROM {table.name}{f' WHERE ({where})' if where else ''} ORDER BY {order}"
        rows = self.query(sql, parameters).table
        size = _READ_TRAJECTORIES if record is Trajectory else _READ_ROWS
        for start in range(0, rows.num_rows, size):
            yield from self._decode(table, record, rows.slice(start, size).to_pylist(), pictures)

    def query(
        self,
        sql: str,
        parameters: Sequence[object] | Mapping[str, object] = (),
        timeout_seconds: float | None = None,
    ) -> QueryResult:
        """The answer to one SELECT, which can neither change the warehouse nor reach outside it.

        Raises:
            QueryRefusedError: the statement is no SELECT or calls a function that is not admitted.
            QueryFailedError: it does not run, or takes longer than `timeout_seconds`.
        """
        answer = self._ask(sql, parameters, lambda found: found.to_arrow_table(), timeout_seconds)
        return QueryResult.of(answer)

    def stream(
        self,
        sql: str,
        take: Callable[[pa.RecordBatchReader], T],
        parameters: Sequence[object] | Mapping[str, object],
        timeout_seconds: float | None = None,
        rows: int = _STREAMED_ROWS,
    ) -> T:
        """What `take` makes of a `query`, `rows` at a time; called again where the catalogue was busy."""
        return self._ask(sql, parameters, lambda found: take(found.to_arrow_reader(rows)), timeout_seconds)

    def _ask(
        self,
        sql: str,
        parameters: Sequence[object] | Mapping[str, object],
        take: Callable[[duckdb.DuckDBPyConnection], T],
        timeout_seconds: float | None = None,
    ) -> T:
        with self._guard:
            connection = self._reading().cursor()
        # A reader and a writer of one process can wait for each other's locks on the catalogue for ever: take
        # turns.
        turn = self._guard if self._writer is not None else None
        return ask((connection, self._catalogue), self.location, sql, parameters, take, timeout_seconds, turn)

    def count(self, record: type[Record], where: str = "") -> int:
        """Number of stored records of a class."""
        table = table_of(record)
        condition = f" WHERE ({where})" if where else ""
        return int(str(self.query(f"SELECT count(*) FROM {table.name}{condition}").scalar()))

    def _decode(
        self, table: Table, record: type[R], rows: list[dict[str, Any]], pictures: bool
    ) -> Iterator[R]:
        shared = Shared(picture=self.screenshots.read if pictures else None)
        steps: dict[str, list[dict[str, Any]]] = {}
        if record is Trajectory:
            wanted = [row["trajectory_id"] for row in rows]
            found = self.query(
                "SELECT * FROM trajectory_steps WHERE trajectory_id IN (SELECT unnest(?::VARCHAR[]))"
                " ORDER BY trajectory_id, step",
                [wanted],
            )
            for step in found.table.to_pylist():
                steps.setdefault(step["trajectory_id"], []).append(step)
        if record in (Trajectory, SeenScreen):
            texts, controls = references([rows, list(steps.values())])
            shared.texts = dict(self._shared("SELECT text_id, text FROM file_texts", "text_id", texts))
            shared.controls = dict(
                self._shared("SELECT controls_id, controls FROM control_lists", "controls_id", controls)
            )
        for row in rows:
            decoded = decode_record(table, row, shared, steps.get(str(row.get("trajectory_id")), ()))
            if isinstance(decoded, record):
                yield decoded

    def _shared(self, select: str, key: str, wanted: set[str]) -> list[tuple[str, Any]]:
        if not wanted:
            return []
        sql = f"{select} WHERE {key} IN (SELECT unnest(?::VARCHAR[]))"
        table = self.query(sql, [sorted(wanted)]).table
        return list(zip(table.column(0).to_pylist(), table.column(1).to_pylist(), strict=True))

    def _open_for_writing(self) -> None:
        folder = self.location.data_folder
        if folder is not None:
            try:
                (folder / "data").mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise WarehouseUnavailableError(
                    f"The warehouse {self.location.shown} cannot be made: {error.strerror}"
                ) from None
        with WriterLock(self.location):
            writer = connect_writer(self.location)
            try:
                if not is_current(writer, self.location.shown):
                    writer.execute(f"CALL {LAKE}.set_option('parquet_compression', 'zstd')")
                    retried(lambda: bring_up_to_date(writer), self.location)
            except duckdb.Error as error:
                writer.close()
                raise WarehouseUnavailableError(
                    f"The warehouse {self.location.shown} cannot be prepared: {reason_of(error)}"
                ) from None
            except WarehouseError:
                writer.close()
                raise
        self._writer = writer

    def _writing(self) -> duckdb.DuckDBPyConnection:
        if self._writer is None:
            raise WarehouseUnavailableError(
                f"The warehouse {self.location.shown} was opened for reading only."
            )
        return self._writer

    def _reading(self) -> duckdb.DuckDBPyConnection:
        if self._reader is None:
            reader = connect_reader(self.location, self._snapshot)
            if not retried(lambda: is_current(reader, self.location.shown), self.location):
                complete_for_reading(reader)
                self._catalogue = COMPLETED
            self._reader = reader
        return self._reader


def _roll_back(connection: duckdb.DuckDBPyConnection) -> None:
    try:
        connection.execute("ROLLBACK")
    except duckdb.Error:
        return
